// Eigenpairs into a gauge, which keeps them for its solves, and out of it. Collective.
#pragma once

#include <optional>
#include <span>

#include "solver/eigen/eigenpair_file.hpp"
#include "solver/eigen/low_modes.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/report/eigen_report.hpp"

namespace staghorn {

// Reads eigenpairs, proves that they are eigenpairs of this operator, and keeps them: solves use them. Throws Error
// where the file is for other links, another action or boundary, or for nothing that the certificate accepts.
// `on_host`: whether they lie there though a GPU computes; absent: the options and the memory that is free decide.
void load_eigenpairs(Gauge& gauge, const EigenvectorHeader& header, std::optional<bool> on_host = {});
// The eigenpairs of the file `path`, as load_eigenpairs. Where it does not exist and `pairs` are asked for, so many are
// found, certified and written to it before. Throws Error, also where the search does not certify so many.
void take_eigenpairs(Gauge& gauge, const std::string& path, const std::optional<int>& pairs);
// Whether the file of `eigenvectors` is there, or will not be made. Throws Error where it is to be made and cannot be.
bool eigenvectors_are_there(const Communicator& communicator, const SessionOptions& options);
// Keeps pairs that were found and certified for these links, where the gauge computes.
void keep_eigenpairs(Gauge& gauge, Eigenpairs pairs, const EigenReport& found);
// Writes pairs of this gauge, with what they belong to: links, action and boundary.
void write_eigenpairs(const Gauge& gauge, const Eigenpairs& pairs, const EigenpairOutput& output);

// Their part of condensates of noise, and of correlators of points and walls, where the request asks for it to be
// exact. The request was checked. Throws Error where there are no pairs, or none of these sources.
LowModes low_modes(Gauge& gauge, const SolveRequest& request, std::span<const SourceRequest> sources);

}  // namespace staghorn
