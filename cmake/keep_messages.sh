#!/bin/sh
# keep_messages.sh COMMAND... -o OBJECT ...: runs a compile command of nvcc. What it says goes into OBJECT.messages, from
# which tests read how many registers the kernels spill; all but the lines on registers is printed, too.
object='' before=''
for word; do
  [ "$before" = -o ] && object=$word
  before=$word
done
"$@" 2>"$object.messages"
status=$?
grep -v -e '^ptxas info' -e '^ *-\{0,1\}[0-9]* bytes stack frame' "$object.messages" >&2
exit $status
