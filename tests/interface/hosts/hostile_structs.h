/* Structs of staghorn.h that are spoiled at random, for tests. C99. */
#ifndef HOSTILE_STRUCTS_H
#define HOSTILE_STRUCTS_H

#include <math.h>
#include <staghorn.h>
#include <string.h>

#include "draws.h"

enum { room = 4096 }; /* behind each struct, for sizes that lie */

/* Where a struct has fields of each width; 0: none. */
typedef struct {
  int name;
  size_t size, ints_to, longs[2], doubles_from, doubles_to;
} struct_kind;
static const struct_kind kinds[] = {
    {STAGHORN_GEOMETRY, sizeof(staghorn_geometry), sizeof(staghorn_geometry), {0}, 0, 0},
    {STAGHORN_OPTIONS, sizeof(staghorn_options), offsetof(staghorn_options, stream), {0}, 0, 0},
    {STAGHORN_LINKS,
     sizeof(staghorn_links),
     offsetof(staghorn_links, site_stride),
     {offsetof(staghorn_links, site_stride), offsetof(staghorn_links, link_offset)},
     offsetof(staghorn_links, theta),
     offsetof(staghorn_links, generation)},
    {STAGHORN_VECTORS,
     sizeof(staghorn_vectors),
     offsetof(staghorn_vectors, site_stride),
     {offsetof(staghorn_vectors, site_stride), offsetof(staghorn_vectors, site_stride)},
     0,
     0},
    {STAGHORN_REQUEST,
     sizeof(staghorn_request),
     offsetof(staghorn_request, mass),
     {offsetof(staghorn_request, max_iterations), offsetof(staghorn_request, max_iterations)},
     offsetof(staghorn_request, mass),
     offsetof(staghorn_request, max_iterations)},
    {STAGHORN_RESULT, sizeof(staghorn_result), 8, {0}, 0, 0},
    {STAGHORN_GAUGE_INFO, sizeof(staghorn_gauge_info), 8, {0}, 0, 0},
    {STAGHORN_ACTION,
     sizeof(staghorn_action),
     offsetof(staghorn_action, u0),
     {0},
     offsetof(staghorn_action, u0),
     sizeof(staghorn_action)},
    {STAGHORN_EIGEN_REQUEST,
     sizeof(staghorn_eigen_request),
     offsetof(staghorn_eigen_request, tolerance),
     {offsetof(staghorn_eigen_request, max_calls), offsetof(staghorn_eigen_request, seed)},
     offsetof(staghorn_eigen_request, tolerance),
     offsetof(staghorn_eigen_request, max_calls)},
    {STAGHORN_EIGEN_INFO, sizeof(staghorn_eigen_info), 8, {0}, 0, 0}};
enum { kind_count = sizeof kinds / sizeof *kinds };

static int32_t hostile_int(void) {
  static const int32_t hostile[] = {0, 1, 2, 3, 4, 5, 6, 8, 12, 18, -1, -2, 7, 64, 65, 1000, INT32_MAX, INT32_MIN};
  return hostile[one_of((int)(sizeof hostile / sizeof *hostile))];
}
static int64_t hostile_long(void) {
  static const int64_t hostile[] = {0, 0, 0, -1, 1, 4, 8, 24, 48, 56, 288, 576, 584, 1000, INT64_MAX, INT64_MIN};
  return hostile[one_of((int)(sizeof hostile / sizeof *hostile))];
}
static double hostile_double(void) {
  static const double hostile[] = {0, 1, -1, 0.1, 0.3, 1e-10, 1e-3, 1e300, 5e-324, 2, 1.7};
  const int k = one_of(13);
  return k == 11 ? NAN : k == 12 ? INFINITY : hostile[k];
}

/* Spoils up to three fields of a struct. */
static void spoil(void *a_struct, const struct_kind *kind) {
  unsigned char *bytes = a_struct;
  for (int times = one_of(4); times > 0; --times) {
    const int what = one_of(8);
    if (what == 0) {
      static const uint32_t sizes[] = {0, 4, 8, 100, 3000, 4096, 4097, UINT32_MAX};
      const uint32_t wrong = one_of(3) ? (uint32_t)(kind->size + 8 * (size_t)one_of(20) - 16) : sizes[one_of(8)];
      memcpy(bytes, &wrong, sizeof wrong);
    } else if (what < 5) {
      const int32_t value = hostile_int();
      memcpy(bytes + 4 + 4 * (size_t)one_of((int)(kind->ints_to / 4) - 1), &value, sizeof value);
    } else if (what == 5 && kind->longs[0]) {
      const int64_t value = hostile_long();
      memcpy(bytes + kind->longs[one_of(2)], &value, sizeof value);
    } else if (kind->doubles_to) {
      const double value = hostile_double();
      const size_t many = (kind->doubles_to - kind->doubles_from) / 8;
      memcpy(bytes + kind->doubles_from + 8 * (size_t)one_of((int)many), &value, sizeof value);
    }
  }
  if (one_of(50) == 0) bytes[kind->size + (size_t)one_of(64)] = 1;
}

#endif
