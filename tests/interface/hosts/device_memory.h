/* Memory of a GPU for host programs that link no CUDA: the driver, opened when the program runs. C99. */
#ifndef DEVICE_MEMORY_H
#define DEVICE_MEMORY_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long device_address;

static struct {
  int (*init)(unsigned), (*retain)(void **, int), (*set)(void *), (*allocate)(device_address *, size_t),
      (*release)(device_address), (*to_device)(device_address, const void *, size_t),
      (*to_host)(void *, device_address, size_t), (*info)(size_t *, size_t *), (*pin)(void **, size_t, unsigned),
      (*unpin)(void *), (*stream)(void **, unsigned), (*to_device_async)(device_address, const void *, size_t, void *),
      (*fill_async)(device_address, unsigned char, size_t, void *);
} driver;

static inline int driver_function(void *library, const char *name, void *pointer) {
  void *found = dlsym(library, name);
  memcpy(pointer, &found, sizeof found);
  return found != NULL;
}

/* Opens the driver and takes GPU 0 for this thread. Returns 0 where there is none. */
static inline int device_open(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
  if (!library) return 0;
  return driver_function(library, "cuInit", &driver.init) &&
         driver_function(library, "cuDevicePrimaryCtxRetain", &driver.retain) &&
         driver_function(library, "cuCtxSetCurrent", &driver.set) &&
         driver_function(library, "cuMemAlloc_v2", &driver.allocate) &&
         driver_function(library, "cuMemFree_v2", &driver.release) &&
         driver_function(library, "cuMemcpyHtoD_v2", &driver.to_device) &&
         driver_function(library, "cuMemcpyDtoH_v2", &driver.to_host) &&
         driver_function(library, "cuMemGetInfo_v2", &driver.info) &&
         driver_function(library, "cuMemHostAlloc", &driver.pin) &&
         driver_function(library, "cuMemFreeHost", &driver.unpin) &&
         driver_function(library, "cuStreamCreate", &driver.stream) &&
         driver_function(library, "cuMemcpyHtoDAsync_v2", &driver.to_device_async) &&
         driver_function(library, "cuMemsetD8Async", &driver.fill_async) && driver.init(0) == 0 &&
         driver.retain(&context, 0) == 0 && driver.set(context) == 0;
}

static inline void device_check(int status, const char *what) {
  if (status == 0) return;
  printf("%s: CUDA says %d\n", what, status);
  exit(3);
}
static inline void *device_copy_of(const void *host, size_t bytes) {
  device_address at = 0;
  device_check(driver.allocate(&at, bytes), "cuMemAlloc");
  if (host) device_check(driver.to_device(at, host, bytes), "cuMemcpyHtoD");
  return (void *)(uintptr_t)at;
}
static inline void device_write(void *device, const void *host, size_t bytes) {
  device_check(driver.to_device((device_address)(uintptr_t)device, host, bytes), "cuMemcpyHtoD");
}
static inline void device_read(void *host, const void *device, size_t bytes) {
  device_check(driver.to_host(host, (device_address)(uintptr_t)device, bytes), "cuMemcpyDtoH");
}
static inline void device_free(void *device) {
  if (device) device_check(driver.release((device_address)(uintptr_t)device), "cuMemFree");
}
static inline size_t device_free_bytes(void) {
  size_t available = 0, all = 0;
  device_check(driver.info(&available, &all), "cuMemGetInfo");
  return available;
}
static inline void *pinned_copy_of(const void *host, size_t bytes) {
  void *at = NULL;
  device_check(driver.pin(&at, bytes, 0), "cuMemHostAlloc");
  memcpy(at, host, bytes);
  return at;
}

#endif
