/* Ranks of MPICH that wait give their core away, for tests with more ranks than cores: without, each message waits for
   the end of another rank's time slice. Loaded before libucp, it stands in front of the function that MPICH over UCX
   calls while it waits. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*) = NULL;
  unsigned done = 0;
  if (!progress) *(void**)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
  if (!progress) *(void**)&progress = dlsym(dlopen("libucp.so.0", RTLD_LAZY), "ucp_worker_progress"); /* in Python */
  done = progress(worker);
  if (done == 0) sched_yield();
  return done;
}
