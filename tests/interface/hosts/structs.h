/* The structs of staghorn.h with their defaults, for the programs of tests. */
#ifndef STRUCTS_H
#define STRUCTS_H

#include <staghorn.h>

typedef struct {
  staghorn_geometry geometry;
  staghorn_options options;
  staghorn_links links;
  staghorn_vectors vectors;
  staghorn_request request;
  staghorn_result result;
} host_structs;

static inline host_structs default_structs(void) {
  host_structs s;
  staghorn_defaults(&s.geometry, sizeof s.geometry, STAGHORN_GEOMETRY);
  staghorn_defaults(&s.options, sizeof s.options, STAGHORN_OPTIONS);
  staghorn_defaults(&s.links, sizeof s.links, STAGHORN_LINKS);
  staghorn_defaults(&s.vectors, sizeof s.vectors, STAGHORN_VECTORS);
  staghorn_defaults(&s.request, sizeof s.request, STAGHORN_REQUEST);
  staghorn_defaults(&s.result, sizeof s.result, STAGHORN_RESULT);
  return s;
}

#endif
