#include "solver/krylov/loop_form.hpp"

#include <cstdlib>

#include "halo/named_choice.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

namespace {

// Local volume beyond which one kernel is the wide one (decision 006).
constexpr std::int64_t most_narrow_sites = 24 * 24 * 24 * 48;

constexpr NamedChoice<LoopForm, 7> forms{"form of the loop",
                                         {{{LoopForm::host, "host"},
                                           {LoopForm::two_kernels, "two kernels"},
                                           {LoopForm::one_kernel, "one kernel"},
                                           {LoopForm::wide_kernel, "wide kernel"},
                                           {LoopForm::nccl, "nccl"},
                                           {LoopForm::cublas, "cublas"},
                                           {LoopForm::block, "block"}}}};
constexpr NamedChoice<LoopChoice, 4> choices{"STAGHORN_CG_KERNELS",
                                             {{{LoopChoice::automatic, "auto"},
                                               {LoopChoice::one, "one"},
                                               {LoopChoice::wide, "wide"},
                                               {LoopChoice::two, "two"}}}};

}  // namespace

std::string to_string(LoopForm form) { return forms.name(form); }
void parse(const std::string& text, LoopForm& form) { form = forms.parse(text); }

LoopChoice default_loop_choice() {
  const char* text = environment_variable("STAGHORN_CG_KERNELS");
  return text && *text ? choices.parse(text) : LoopChoice::automatic;
}

bool takes_one_kernel(LoopChoice asked, int n_rhs, std::int64_t local_volume) {
  // With more sites the sums in a thread would not stay exact. On GPUs with fewer than 128 multiprocessors that begins
  // with fewer sites; can_be_one_kernel finds it there.
  constexpr std::int64_t most_exact_sites = 1 << 23;
  if (asked == LoopChoice::two || n_rhs * local_volume > most_exact_sites) return false;
  return asked != LoopChoice::automatic || n_rhs == 1;
}

bool takes_wide_kernel(LoopChoice asked, std::int64_t local_volume) {
  return asked == LoopChoice::wide || local_volume > most_narrow_sites;
}

}  // namespace staghorn
