#include "solver/krylov/tile/tile_solver.hpp"

#include <algorithm>
#include <cmath>

#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/reliable_updates.hpp"
#include "solver/krylov/tile/tile_loop.hpp"
#include "solver/krylov/updated_rhs.hpp"

namespace staghorn {

namespace {

std::string name_of(const std::optional<LoopForm>& form) { return form ? to_string(*form) : ""; }

// The iterations in the precision of the answer.
class PlainTile final : public TileSolver {
 public:
  PlainTile(const TileOperators& with, Parity parity, double mass, LoopChoice choice)
      : with_(with),
        system_(parity_system(with.iterated, parity, mass)),
        loop_(with.iterated, choice, false),
        x_(std::size_t(loop_.columns())) {}

  void begin(int column, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop) override {
    std::vector<ExactSum> sums = sums_of_sources(stop);
    const double r2 = with_.single.norm2(b, sums)[0];
    loop_.begin(column, {b, b, r2, r2}, stop.target_norm[0], stop.max_iterations, stop.patient);
    x_[std::size_t(column)] = &x;
  }
  void advance(const ShowProgress& show, const bool* interrupted) override {
    loop_.advance(system_, show, interrupted);
  }
  bool is_done(int column) const override { return x_[std::size_t(column)] && !loop_.at(column).active; }
  SolvedRhs finish(int column) override {
    x_[std::size_t(column)]->copy_rhs(0, loop_.x(), column);
    x_[std::size_t(column)] = nullptr;
    SolvedRhs solved = loop_.at(column).done;
    loop_.clear(column);
    return solved;
  }

  void visit(const Archive& archive, int column) override { loop_.visit(archive, column); }
  std::vector<ColumnVector> vectors(int column) override { return loop_.vectors(column); }
  void resume(int column, ColorVectorField& x, const ColorVectorField&, const CgStop& stop,
              const Archive& archive) override {
    loop_.resume(column, archive, stop.target_norm[0], stop.max_iterations);
    x_[std::size_t(column)] = &x;
  }

  long iterations() const override { return loop_.iterations(); }
  long column_iterations() const override { return loop_.column_iterations(); }
  std::string form() const override { return name_of(loop_.form()); }
  std::string precise_form() const override { return ""; }
  std::int64_t bytes() const override { return loop_.bytes(); }

 private:
  TileOperators with_;
  ParitySystem system_;
  TileLoop loop_;
  std::vector<ColorVectorField*> x_;  // of each column; nullptr: free
};

// Reliable updates (reliable_updates.hpp), of each column where it needs one.
class MixedTile final : public TileSolver {
 public:
  MixedTile(const TileOperators& with, Parity parity, double mass, LoopChoice choice)
      : with_(with),
        sloppy_single_(*with.sloppy_single),
        sloppy_system_(parity_system(with.iterated, parity, mass)),
        system_(parity_system(with.single, parity, mass)),
        choice_(choice),
        loop_(with.iterated, choice, true),
        columns_(std::size_t(loop_.columns())),
        r_(with.single.make_vector()),
        tmp_(with.single.make_vector()),
        work_(sloppy_single_),
        sloppy_x_(sloppy_single_.make_solution()),
        plan_(update_plan({}, sloppy_single_, system_.shift, false)),
        replacement_(sloppy_single_) {}

  void begin(int column, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop) override {
    Column& c = occupy(column, x, b, stop);
    c.r2 = with_.single.norm2(b, c.sums);
    c.rhs.emplace(c.stop, c.r2, system_.shift, plan_);
    r_.copy_from(b);
    restart(column);
    go_on(column);
  }

  void advance(const ShowProgress& show, const bool* interrupted) override {
    const auto to_the_end = [&](const CgProgress& at) { show({at.iteration, worst_ratio(), per_e()}); };
    loop_.advance(sloppy_system_, show ? to_the_end : ShowProgress(), interrupted);
    for (int column = 0; column < loop_.columns(); ++column) {
      const Column& c = columns_[std::size_t(column)];
      if (!c.runs()) continue;
      const Running& running = loop_.at(column);
      if (!running.active || running.done.residual_norm <= c.update_norm ||
          running.done.iterations >= c.rhs->interval())
        update(column);
    }
  }

  bool is_done(int column) const override {
    return columns_[std::size_t(column)].rhs && !columns_[std::size_t(column)].runs();
  }

  SolvedRhs finish(int column) override {
    Column& c = columns_[std::size_t(column)];
    if (c.runs()) update(column);
    SolvedRhs solved = std::move(c.rhs->results()[0]);
    c.rhs.reset();
    loop_.clear(column);
    return solved;
  }

  void visit(const Archive& archive, int column) override {
    loop_.visit(archive, column);
    archive("mixed", columns_[std::size_t(column)]);
  }
  std::vector<ColumnVector> vectors(int column) override {
    std::vector<ColumnVector> vectors = loop_.vectors(column);
    vectors.push_back({columns_[std::size_t(column)].x, 0});
    return vectors;
  }
  void resume(int column, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
              const Archive& archive) override {
    Column& c = occupy(column, x, b, stop);
    c.r2.assign(1, 0);
    c.rhs.emplace(c.stop, c.r2, system_.shift, plan_);
    archive("mixed", c);
    loop_.resume(column, archive, least_share_of_update * c.update_norm, c.rhs->iterations_left());
  }

  long iterations() const override { return loop_.iterations(); }
  long column_iterations() const override { return loop_.column_iterations(); }
  std::string form() const override { return name_of(loop_.form()); }
  std::string precise_form() const override { return name_of(precise_form_); }
  std::int64_t bytes() const override {
    return loop_.bytes() + r_.bytes() + tmp_.bytes() + work_.bytes() + sloppy_x_.bytes();
  }

 private:
  struct Column {
    ColorVectorField* x = nullptr;
    const ColorVectorField* b = nullptr;
    CgStop stop;
    std::optional<UpdatedRhs> rhs;  // nothing: the column is free
    std::vector<double> r2;         // |b - A x|^2 in high precision
    double update_norm = 0;         // the sloppy |r| that asks for an update
    std::vector<ExactSum> sums, sloppy_sums;
    bool runs() const { return rhs && rhs->count_active() > 0; }
    void visit(const Archive& archive) {
      archive("rhs", *rhs);
      archive("r2", r2, 1);
      archive("update_norm", update_norm);
      archive_sums(archive, "bounds", sums);
      archive_sums(archive, "sloppy_bounds", sloppy_sums);
    }
  };

  Column& occupy(int column, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop) {
    Column& c = columns_[std::size_t(column)];
    c.x = &x;
    c.b = &b;
    c.stop = stop;
    c.stop.choice = choice_;
    c.sums = c.sloppy_sums = sums_of_sources(stop);
    return c;
  }

  // The search of the column begins with r_, rounded. Returns its |r|^2.
  double restart(int column) {
    search_.r.convert_from(r_);
    search_.p.copy_from(search_.r);
    search_.r2 = search_.p2 = sloppy_single_.norm2(search_.r, columns_[std::size_t(column)].sloppy_sums);
    return search_.r2[0];
  }

  // From r_ = b - A x: ends the column, or begins its next sloppy iterations, those of search_.
  void go_on(int column) {
    Column& c = columns_[std::size_t(column)];
    if (!c.rhs->apply_stop_rule(c.r2)) {
      // Where the sloppy operator can do no more, plain CG goes on, while the other columns wait.
      const auto form = c.rhs->iterate_rest(system_, *c.x, r_, tmp_, c.r2, {});
      if (form) precise_form_ = form;
      return loop_.clear(column);
    }
    c.update_norm = c.rhs->targets_of_update()[0];
    // The loop itself stops far below only: where it stops, the direction is lost.
    loop_.begin(column, {search_.r, search_.p, search_.r2[0], search_.p2[0]}, least_share_of_update * c.update_norm,
                c.rhs->iterations_left());
  }

  // x += what the sloppy iterations found;  r = b - A x in high precision.
  void update(int column) {
    Column& c = columns_[std::size_t(column)];
    const Running& found = loop_.at(column);
    search_.x.copy_rhs(0, loop_.x(), column);
    tmp_.convert_from(search_.x);
    system_.d.combine(1, tmp_, 1, *c.x);
    c.r2 = residual(system_, *c.x, *c.b, r_, tmp_, c.sums);
    const double r2 = found.done.history.back();
    std::vector<double> mismatch(1, 0);
    if (found.active) {
      search_.r.copy_rhs(0, loop_.r(), column);
      search_.p.copy_rhs(0, loop_.p(), column);
      search_.r2 = {r2};
      search_.tmp.convert_from(r_);
      mismatch = replacement_.replace(search_, sloppy_single_.norm2(search_.tmp, c.sloppy_sums), system_.parity);
    } else if (const double exact2 = restart(column); exact2 > 0) {
      // The iterations of the others round the vector of a column that has stopped again: its norm alone is what it
      // was.
      mismatch = {std::fabs(std::sqrt(r2 / exact2) - 1)};
    }
    c.rhs->record_update({&found.done, 1}, c.r2, mismatch);
    go_on(column);
  }

  double per_e() const {
    double largest = 0;
    for (const Column& c : columns_)
      if (c.runs()) largest = std::max(largest, c.rhs->iterations_per_e());
    return largest;
  }
  double worst_ratio() const {
    double worst = 0;
    for (int column = 0; column < loop_.columns(); ++column) {
      const Column& c = columns_[std::size_t(column)];
      if (c.runs()) worst = std::max(worst, loop_.at(column).done.residual_norm / c.stop.target_norm[0]);
    }
    return worst;
  }

  TileOperators with_;
  StaggeredOperator& sloppy_single_;
  ParitySystem sloppy_system_, system_;
  LoopChoice choice_;
  TileLoop loop_;
  std::vector<Column> columns_;
  // Of the column that is updated.
  ColorVectorField r_, tmp_;
  CgVectors work_;
  ColorVectorField sloppy_x_;
  CgState search_{sloppy_x_, work_.r, work_.p, work_.tmp, {}, {}};
  UpdatePlan plan_;
  ResidualReplacement replacement_;
  std::optional<LoopForm> precise_form_;
};

}  // namespace

std::unique_ptr<TileSolver> make_tile_solver(const TileOperators& operators, Parity parity, double mass,
                                             LoopChoice choice) {
  if (operators.sloppy_single) return std::make_unique<MixedTile>(operators, parity, mass, choice);
  return std::make_unique<PlainTile>(operators, parity, mass, choice);
}

double predicted_tile_bytes(const OperatorBytes& iterated, const OperatorBytes& single,
                            const OperatorBytes* sloppy_single) {
  const double loop = 3 * iterated.vector + iterated.solution;
  return sloppy_single ? loop + 2 * single.vector + 3 * sloppy_single->vector + sloppy_single->solution : loop;
}

}  // namespace staghorn
