// Conversions of staghorn.h from one host layout to another.
#include <staghorn.h>

#include "halo/watch/error.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/host_fields.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/structs.hpp"

using namespace staghorn;

int staghorn_convert_vectors(const staghorn_context* context, const staghorn_vectors* from, const void* in,
                             const staghorn_vectors* to, void* out) {
  return guarded([&] {
    const auto held = held_by(context);
    const Use use(*held);
    const Context& place = *held->context;
    const staghorn_vectors source = read_struct(from, "from"), target = read_struct(to, "to");
    for (const staghorn_vectors* layout : {&source, &target}) {
      check(*layout);
      check_layout(place.lattice(), place.cuda_device(), *layout);
    }
    check_pointer("in", in);
    check_pointer("out", out);
    if (source.half || target.half) throw Error(ErrorKind::layout, "vectors.half", "full vectors to be converted", "1");
    VectorField field(place.lattice());
    take_vector(source, {}, in, field);
    give_vector(target, {}, field, out);
    return int(STAGHORN_OK);
  });
}

int staghorn_convert_links(const staghorn_context* context, const staghorn_links* from, const void* const in[4],
                           const staghorn_links* to, void* const out[4]) {
  return guarded([&] {
    const auto held = held_by(context);
    const Use use(*held);
    const Context& place = *held->context;
    const staghorn_links source = read_struct(from, "from"), target = read_struct(to, "to");
    for (const staghorn_links* layout : {&source, &target}) {
      check(*layout);
      check_layout(place.lattice(), place.cuda_device(), *layout);
    }
    check_pointer("in", in);
    check_pointer("out", out);
    for (int mu = 0; mu < 4; ++mu) {
      if (mu == 0 || source.order == STAGHORN_QDP) check_pointer("in[mu]", in[mu]);
      if (mu == 0 || target.order == STAGHORN_QDP) check_pointer("out[mu]", out[mu]);
    }
    LinkField field(place.lattice());
    take_links(source, in, field);
    give_links(target, field, out);
    return int(STAGHORN_OK);
  });
}
