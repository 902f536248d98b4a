#include "solver/session/many/refilled_batch.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "halo/watch/stopwatch.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/passes/scaled_sources.hpp"

namespace staghorn {

namespace {

std::unique_ptr<StaggeredOperator> one_column(const Gauge& gauge, const Workbench::BatchParts& parts) {
  if (!parts.sloppy) return nullptr;
  const Context& context = gauge.context();
  const OperatorOptions options = operator_options(iterated_options(gauge.options()), 1, context.cuda_device());
  return std::make_unique<StaggeredOperator>(context.communicator(), parts.links, options, parts.sloppy->hop_data());
}

}  // namespace

RefilledBatch::RefilledBatch(Gauge& gauge, const SolveRequest& request, int columns, std::size_t n_sources)
    : gauge_(gauge),
      request_(request),
      parts_(gauge.bench().prepare_batch(columns, n_sources, request.system)),
      single_(gauge.context().communicator(), parts_.links,
              operator_options(gauge.options(), 1, gauge.context().cuda_device()), parts_.precise.hop_data()),
      sloppy_single_(one_column(gauge, parts_)),
      columns_(std::size_t(parts_.precise.options().n_rhs)) {
  use_.columns = this->columns();
  gauge.context().communicator().agree([&] {
    const TileOperators operators{parts_.sloppy ? *parts_.sloppy : parts_.precise, single_, sloppy_single_.get()};
    tile_ = make_tile_solver(operators, request.system == System::odd ? Parity::odd : Parity::even, request.mass,
                             gauge.context().loop());
  });
}

bool RefilledBatch::has_free_column() const { return std::count(columns_.begin(), columns_.end(), nullptr) > 0; }

bool RefilledBatch::is_empty() const {
  return std::all_of(columns_.begin(), columns_.end(), [](const auto& column) { return !column; });
}

std::size_t RefilledBatch::place(std::size_t source, VectorField b) {
  const Context& context = gauge_.context();
  const Communicator& all = context.communicator();
  const SessionOptions& options = gauge_.options();
  const auto at = std::size_t(std::find(columns_.begin(), columns_.end(), nullptr) - columns_.begin());
  all.agree([&] {
    const MemorySpace space = parts_.certificate.space();
    auto made = std::make_unique<BatchColumn>(source, single_, context.loop(), [&](EvenOddPass& pass) {
      return CertifiedWork{all, parts_.plain, options.boundary, options.precision, pass, parts_.certificate.residual()};
    });
    made->x.emplace_back(b.lattice(), space);
    if (b.space() == space)
      made->b.push_back(std::move(b));
    else
      made->b.emplace_back(b, space);
    columns_[at] = std::move(made);
  });
  BatchColumn& column = *columns_[at];
  column.b2 = source_norms2(all, request_.system, column.b);
  column.times = bring_into_range(all, request_.system, column.b[0], column.b2[0]);
  column.passes = std::make_unique<Passes>(column.work, request_, column.b, column.b2, column.x);
  return at;
}

void RefilledBatch::begin(std::size_t source, VectorField b) {
  certify(place(source, std::move(b)));
  count_bytes();
}

void RefilledBatch::resume(std::size_t source, VectorField b, const VectorField* so_far, const Archive& state) {
  const std::size_t at = place(source, std::move(b));
  if (so_far) columns_[at]->x[0] = *so_far;
  state("passes", *columns_[at]->passes);
  certify(at, &state);
  count_bytes();
}

void RefilledBatch::visit(const Archive& archive, std::size_t column) {
  archive("passes", *columns_[column]->passes);
  tile_->visit(archive, int(column));
}

void BatchUse::visit(const Archive& archive) {
  archive("iterations", iterations);
  archive("column_iterations", column_iterations);
  archive("iterations_waited", iterations_waited);
  archive("column_iterations_waited", column_iterations_waited);
}

BatchUse RefilledBatch::use() const {
  return {columns(), use_.iterations + before_.iterations, use_.column_iterations + before_.column_iterations,
          use_.iterations_waited + before_.iterations_waited,
          use_.column_iterations_waited + before_.column_iterations_waited};
}

void RefilledBatch::count_bytes() {
  double passes = 0, fields = 0;  // of all columns
  for (const auto& occupied : columns_)
    if (occupied) {
      passes += double(occupied->pass.vector_bytes());
      fields += 2 * double(occupied->b[0].bytes());
    }
  pass_bytes_ = std::max(pass_bytes_, passes);
  field_bytes_ = std::max(field_bytes_, fields);
}

// Certifies what the column has, and hands it to the tile where it needs another pass.
void RefilledBatch::certify(std::size_t at, const Archive* kept) {
  BatchColumn& column = *columns_[at];
  column.is_solved = !column.passes->certify();
  if (column.is_solved) return;
  EvenOddPass& pass = column.pass;
  pass.prepare();
  CgStop stop{{column.passes->targets()[0] * pass.norm_of_cg(0)}, column.passes->iterations_left()};
  stop.patient = pass.is_patient();
  stop.source_norm2.assign(pass.source_norm2().begin(), pass.source_norm2().end());
  if (kept)
    tile_->resume(int(at), pass.x(), pass.b(), stop, *kept);
  else
    tile_->begin(int(at), pass.x(), pass.b(), stop);
}

void RefilledBatch::advance(const ShowProgress& progress, bool waiting,
                            const std::function<void(std::size_t, const VectorField&, CertifiedSolve&&)>& done) {
  const Stopwatch solving;
  const long iterations = tile_->iterations(), column_iterations = tile_->column_iterations();
  if (std::any_of(columns_.begin(), columns_.end(), [](const auto& column) { return column && !column->is_solved; }))
    tile_->advance(progress, nullptr);
  solve_seconds_ += solving.seconds();
  use_.iterations = tile_->iterations();
  use_.column_iterations = tile_->column_iterations();
  if (waiting) {
    use_.iterations_waited += use_.iterations - iterations;
    use_.column_iterations_waited += use_.column_iterations - column_iterations;
  }
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    if (!columns_[at]) continue;
    BatchColumn& column = *columns_[at];
    if (!column.is_solved && tile_->is_done(int(at))) {
      const Stopwatch completing;
      CgResult result;
      result.rhs.push_back(tile_->finish(int(at)));
      column.pass.complete(result);
      solve_seconds_ += completing.seconds();
      column.passes->add(result, 0);
      certify(at);
    }
    if (!column.is_solved) continue;
    CertifiedSolve solved = column.passes->result();
    const CertifiedWork& work = column.work;
    take_back({work.communicator, work.links, work.boundary, work.residual}, request_,
              tolerance_in_force(request_, work.precision), column.b[0], column.times, column.x[0], solved.rhs[0]);
    done(column.source, column.x[0], std::move(solved));
    columns_[at].reset();
  }
}

double RefilledBatch::vector_bytes() const { return pass_bytes_ + double(tile_->bytes()); }

double RefilledBatch::halo_bytes() const {
  return double(single_.halo_bytes() + (sloppy_single_ ? sloppy_single_->halo_bytes() : 0));
}

double RefilledBatch::field_bytes() const { return field_bytes_; }

}  // namespace staghorn
