/* Some sources of MILC include this before quda_milc_interface.h. */
#include <quda_milc_interface.h>
