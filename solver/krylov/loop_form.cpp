#include "solver/krylov/loop_form.hpp"

#include <cstdlib>

#include "halo/named_choice.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

namespace {

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

}  // namespace staghorn
