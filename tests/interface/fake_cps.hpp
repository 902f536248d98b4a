// What the adapter sees of CPS: names, signatures and meanings of its lattice classes, and nothing of their inside. One
// node or several. A program of its own kind may fill the fields by CPS's formulae.
#pragma once

#include <vector>

namespace cps {

typedef double Float;
struct Vector {
  Float v[6];
};
struct Matrix {
  Float u[18];
};
enum CnvFrmType { CNV_FRM_NO, CNV_FRM_YES };
enum PreserveType { PRESERVE_NO, PRESERVE_YES };
enum StrOrdType { CANONICAL, STAG, WILSON };
enum BndCndType { BND_CND_PRD, BND_CND_APRD, BND_CND_TWISTED, BND_CND_GPARITY };
enum MultiShiftSolveType { SINGLE, MULTI };

struct CgArg {
  Float mass, stop_rsd, true_rsd;
  int max_num_iter;
};

// The global job parameters.
struct GlobalJobParameter {
  int node_sites[4], nodes[4], node_coor[4];
  BndCndType bc[4];
  Float twist[4], xi_bare, xi_v, xi_v_xi;
  int xi_dir;

  int NodeSites(int mu) const { return node_sites[mu]; }
  int Nodes(int mu) const { return nodes[mu]; }
  int NodeCoor(int mu) const { return node_coor[mu]; }
  BndCndType Bc(int mu) const { return bc[mu]; }
  Float TwistAngle(int mu) const { return twist[mu]; }
  Float XiBare() const { return xi_bare; }
  Float XiV() const { return xi_v; }
  Float XiVXi() const { return xi_v_xi; }
  int XiDir() const { return xi_dir; }
};
extern GlobalJobParameter GJP;

class Lattice {
 public:
  virtual ~Lattice() {}
  virtual int FmatInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, Float* true_res, CnvFrmType cnv_frm = CNV_FRM_YES,
                      PreserveType prs_f_in = PRESERVE_YES) = 0;
  virtual int FmatEvlInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, Float* true_res,
                         CnvFrmType cnv_frm = CNV_FRM_YES) = 0;
  int FmatEvlInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, CnvFrmType cnv_frm = CNV_FRM_YES) {
    return FmatEvlInv(f_out, f_in, cg_arg, 0, cnv_frm);
  }
  virtual int FmatEvlMInv(Vector** f_out, Vector* f_in, Float* shift, int n, int isz, CgArg** cg_arg,
                          CnvFrmType cnv_frm, MultiShiftSolveType type, Float* alpha, Vector** f_out_d) = 0;

  Matrix* GaugeField() { return links().data(); }
  StrOrdType StrOrd() const { return order_; }

  // Of the fake only. As in CPS, all lattices share the links.
  static std::vector<Matrix>& links() {
    static std::vector<Matrix> all;
    return all;
  }
  StrOrdType order_ = CANONICAL;
  Vector* odd_hop() { return f_tmp; }

 protected:
  Vector* f_tmp = nullptr;  // half a field
};

// Wilson's gauge action and staggered fermions. Its own inversions are never to be called here: they return -1.
class GwilsonFstag : public Lattice {
 public:
  GwilsonFstag() {
    const int sites = GJP.NodeSites(0) * GJP.NodeSites(1) * GJP.NodeSites(2) * GJP.NodeSites(3);
    half_.resize(std::size_t(sites) / 2);
    links().resize(std::size_t(sites) * 4);
    f_tmp = half_.data();
  }
  int FmatInv(Vector*, Vector*, CgArg*, Float*, CnvFrmType, PreserveType) override { return -1; }
  int FmatEvlInv(Vector*, Vector*, CgArg*, Float*, CnvFrmType) override { return -1; }
  int FmatEvlMInv(Vector**, Vector*, Float*, int, int, CgArg**, CnvFrmType, MultiShiftSolveType, Float*,
                  Vector**) override {
    return -1;
  }

 private:
  std::vector<Vector> half_;
};

}  // namespace cps
