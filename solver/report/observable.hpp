// What is measured on solutions, as reports hold it: one list, whatever the observable is. Local.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace staghorn {

// What is known of an observable before it is measured (solver/observables/observable_table.cpp lists all of them).
struct ObservableKind {
  enum Form {
    curve,       // one number for each global time slice
    mean,        // one number for each noise vector; their mean is the estimate
    correlators  // those that were asked for, each with one complex number for each global time slice
  };
  const char* name;      // in reports, with an s for several masses: "pion_correlator"
  const char* low_part;  // of a curve, the name of its low part there: "pion_low_part"; of a mean ""
  Form form;
  const char* title;       // for people: "pion correlator"
  const char* symbol;      // "C(t)"
  const char* sources;     // in a file of results, the table of its sources: "pion_source"
  const char* definition;  // there, with the shape of its values
};

// What a meson is beside its name and masses.
struct MesonOf {
  std::array<int, 3> momentum;  // in units of 2 pi / n
  std::string symmetry;         // "E E E"
  std::size_t quark_source;     // number of the source of the quark; the observable's is that of the antiquark
};

// A meson or a baryon of a source and the masses of its quarks.
struct Correlator {
  std::string name;                           // of the operator or current at the sink, or of the baryon
  std::vector<std::size_t> masses;            // numbers: of antiquark and quark, or of three quarks
  std::optional<MesonOf> meson;               // absent: a baryon
  std::vector<std::array<double, 2>> values;  // real and imaginary part
};

// One observable of one source and mass.
struct Observable {
  const ObservableKind* kind;
  std::size_t mass = 0, source = 0;       // numbers, of request.masses and of the sources of the report
  std::vector<double> values{};           // empty: the source does not give it
  std::vector<Correlator> correlators{};  // of that form, instead of values
  bool measured_on_gpu = false;           // correlators; else on the host
  // With `exact_low_modes`: the part of low modes, which the values hold in place of what the source or the noise sees
  // of them. Of a curve one number for each time slice, of a mean one number.
  std::vector<double> low_part{};
  std::optional<double> low_part_error{};  // of a mean, at most: what the residuals of the pairs leave open
};

struct MeanAndError {
  double value = 0;
  double error = 0;  // standard error, sqrt(sum (v_i - mean)^2 / (n (n - 1))); 0 of fewer than two values
};
inline MeanAndError mean_of(std::span<const double> values) {
  const double n = double(values.size());
  MeanAndError mean;
  for (const double value : values) mean.value += value;
  mean.value /= n;
  if (values.size() < 2) return mean;
  double squares = 0;
  for (const double value : values) squares += (value - mean.value) * (value - mean.value);
  mean.error = std::sqrt(squares / (n * (n - 1)));
  return mean;
}

}  // namespace staghorn
