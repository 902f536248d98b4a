#include "solver/krylov/tile/tile_solver.hpp"

#include <algorithm>
#include <cmath>

#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/reliable_updates.hpp"
#include "solver/krylov/tile/tile_loop.hpp"

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

  void begin(int column, ColorVectorField& x, const ColorVectorField& b, const ColumnGoal& goal) override {
    std::vector<ExactSum> sums(1, sum_near(goal.source_norm2));
    const double r2 = with_.single.norm2(b, sums)[0];
    loop_.begin(column, b, r2, false, goal.target_norm, goal.max_iterations, goal.patient);
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
  void resume(int column, ColorVectorField& x, const ColorVectorField&, const ColumnGoal& goal,
              const Archive& archive) override {
    loop_.resume(column, archive, goal.target_norm, goal.max_iterations);
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

// Reliable updates (reliable_updates.hpp), of each column where it needs one: its direction stays.
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
        sloppy_r_(sloppy_single_.make_vector()),
        sloppy_x_(sloppy_single_.make_solution()),
        largest_fall_(largest_fall({}, sloppy_single_, system_.shift)) {}

  void begin(int column, ColorVectorField& x, const ColorVectorField& b, const ColumnGoal& goal) override {
    Column& c = columns_[std::size_t(column)];
    c = Column();
    c.x = &x;
    c.b = &b;
    c.goal = goal;
    c.sums = c.sloppy_sums = {sum_near(goal.source_norm2)};
    c.r2 = with_.single.norm2(b, c.sums)[0];
    c.rhs.done.history.push_back(c.r2);
    r_.copy_from(b);
    go_on(column, false);
  }

  void advance(const ShowProgress& show, const bool* interrupted) override {
    const auto to_the_end = [&](const CgProgress& at) { show({at.iteration, worst_ratio(), per_e()}); };
    loop_.advance(sloppy_system_, show ? to_the_end : ShowProgress(), interrupted);
    for (int column = 0; column < loop_.columns(); ++column) {
      const Column& c = columns_[std::size_t(column)];
      if (!c.x || !c.rhs.active) continue;
      const Running& running = loop_.at(column);
      if (!running.active || running.done.residual_norm <= c.update_norm) update(column);
    }
  }

  bool is_done(int column) const override {
    return columns_[std::size_t(column)].x && !columns_[std::size_t(column)].rhs.active;
  }

  SolvedRhs finish(int column) override {
    Column& c = columns_[std::size_t(column)];
    if (c.rhs.active) update(column);
    SolvedRhs solved = std::move(c.rhs.done);
    c = Column();
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
  void resume(int column, ColorVectorField& x, const ColorVectorField& b, const ColumnGoal& goal,
              const Archive& archive) override {
    Column& c = columns_[std::size_t(column)];
    c = Column();
    c.x = &x;
    c.b = &b;
    c.goal = goal;
    archive("mixed", c);
    loop_.resume(column, archive, least_share_of_update * c.update_norm, most_left(c));
  }

  long iterations() const override { return loop_.iterations(); }
  long column_iterations() const override { return loop_.column_iterations(); }
  std::string form() const override { return name_of(loop_.form()); }
  std::string precise_form() const override { return name_of(precise_form_); }
  std::int64_t bytes() const override {
    return loop_.bytes() + r_.bytes() + tmp_.bytes() + sloppy_r_.bytes() + sloppy_x_.bytes();
  }

 private:
  struct Column {
    ColorVectorField* x = nullptr;  // nullptr: free
    const ColorVectorField* b = nullptr;
    ColumnGoal goal;
    Running rhs;
    double r2 = 0;           // |b - A x|^2 in high precision
    double update_norm = 0;  // the sloppy |r| that asks for an update
    std::vector<ExactSum> sums{ExactSum(1)}, sloppy_sums{ExactSum(1)};
    void visit(const Archive& archive) {
      archive("rhs", rhs);
      archive("r2", r2);
      archive("update_norm", update_norm);
      archive_sums(archive, "bounds", sums);
      archive_sums(archive, "sloppy_bounds", sloppy_sums);
    }
  };

  // From r_ = b - A x: ends the column, or begins its next sloppy iterations.
  void go_on(int column, bool keeps_direction) {
    Column& c = columns_[std::size_t(column)];
    c.rhs.done.residual_norm = std::sqrt(c.r2);
    c.rhs.active = !staghorn::is_done(c.r2, c.goal.target_norm, c.rhs.done.outcome) &&
                   c.rhs.done.iterations < c.goal.max_iterations;
    if (!c.rhs.active) return loop_.clear(column);
    const double aim = sloppy_aim(c.goal.target_norm), norm = c.rhs.done.residual_norm;
    c.update_norm = std::max(next_fall(largest_fall_, aim / norm) * norm, aim);
    sloppy_r_.convert_from(r_);
    const double sloppy_r2 = sloppy_single_.norm2(sloppy_r_, c.sloppy_sums)[0];
    // The loop itself stops far below only: where it stops, the direction is lost.
    loop_.begin(column, sloppy_r_, sloppy_r2, keeps_direction, least_share_of_update * c.update_norm, most_left(c));
  }

  // The iterations that are left to a column on the sloppy operator: up to far more in all than such a matrix allows.
  long most_left(Column& c) const {
    const long most = most_sloppy_iterations(c.rhs, c.goal.target_norm, system_.shift);
    return std::min(c.goal.max_iterations, most) - c.rhs.done.iterations;
  }
  double per_e() const {
    double largest = 0;
    for (const Column& c : columns_)
      if (c.x && c.rhs.active) largest = std::max(largest, iterations_per_e(c.rhs.root_condition));
    return largest;
  }

  // x += what the sloppy iterations found;  r = b - A x in high precision.
  void update(int column) {
    Column& c = columns_[std::size_t(column)];
    sloppy_x_.copy_rhs(0, loop_.x(), column);
    tmp_.convert_from(sloppy_x_);
    system_.d.combine(1, tmp_, 1, *c.x);
    r_.copy_from(*c.b);
    const double before = c.r2;
    c.r2 = subtract_product(system_, *c.x, r_, tmp_, c.sums)[0];
    const Running found = loop_.at(column);
    append_leg(c.rhs.done, found.done);
    c.rhs.done.history.back() = c.r2;
    c.rhs.done.updates.push_back(c.rhs.done.iterations);
    const bool gained =
        found.done.iterations > 0 && c.r2 <= largest_share_left * largest_share_left * before && most_left(c) > 0;
    if (gained || std::sqrt(c.r2) <= c.goal.target_norm) return go_on(column, found.active);
    c.rhs.done.outcome = found.done.outcome == CgOutcome::breakdown ? CgOutcome::breakdown : CgOutcome::stagnated;
    iterate_precisely(c);
    c.rhs.active = false;
    loop_.clear(column);
  }

  // The sloppy operator can do no more: plain CG goes on from r_, while the other columns wait.
  void iterate_precisely(Column& c) {
    const long left = c.goal.max_iterations - c.rhs.done.iterations;
    c.rhs.done.residual_norm = std::sqrt(c.r2);
    if (left <= 0 || !(std::isfinite(c.r2) && c.r2 > 0)) return;
    CgStop stop{{c.goal.target_norm}, left};
    stop.patient = c.goal.patient;
    stop.choice = choice_;
    ColorVectorField p = system_.d.make_vector();
    p.copy_from(r_);
    CgState precise{*c.x, r_, p, tmp_, {c.r2}, {c.r2}};
    const CgResult found = conjugate_gradient_loop(system_, precise, stop, {});
    precise_form_ = found.form;
    c.rhs.done.outcome = found.rhs[0].outcome;
    c.rhs.done.residual_norm = found.rhs[0].residual_norm;
    append_leg(c.rhs.done, found.rhs[0]);
  }

  double worst_ratio() const {
    double worst = 0;
    for (int column = 0; column < loop_.columns(); ++column) {
      const Column& c = columns_[std::size_t(column)];
      if (c.x && c.rhs.active) worst = std::max(worst, loop_.at(column).done.residual_norm / c.goal.target_norm);
    }
    return worst;
  }

  TileOperators with_;
  StaggeredOperator& sloppy_single_;
  ParitySystem sloppy_system_, system_;
  LoopChoice choice_;
  TileLoop loop_;
  std::vector<Column> columns_;
  ColorVectorField r_, tmp_, sloppy_r_, sloppy_x_;  // of the column that is updated
  double largest_fall_;
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
  return sloppy_single ? loop + 2 * single.vector + sloppy_single->vector + sloppy_single->solution : loop;
}

}  // namespace staghorn
