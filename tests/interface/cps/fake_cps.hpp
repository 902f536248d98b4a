// What the adapter sees of CPS, by CPS's names: lattice classes, their bases and virtual functions, arguments, GJP. The
// classes solve by CPS's rules themselves, on one node: what their Dirac operator does to links and fields when it is
// made and destroyed is what CPS's does. -DFAKE_CPS_WITHOUT_NAMESPACE: a CPS that was configured so.
#pragma once

#include <vector>

#ifdef FAKE_CPS_WITHOUT_NAMESPACE
#define CPS_START_NAMESPACE
#define CPS_END_NAMESPACE
#else
#define CPS_START_NAMESPACE namespace cps {
#define CPS_END_NAMESPACE }
#endif

CPS_START_NAMESPACE

typedef double Float;
struct Vector {
  Float v[6];
};
struct Matrix {
  Float u[18];
};
enum CnvFrmType { CNV_FRM_NO, CNV_FRM_YES };
enum PreserveType { PRESERVE_NO, PRESERVE_YES };
enum StrOrdType { CANONICAL, STAG, WILSON, G_WILSON_HB, STAG_BLOCK };
enum BndCndType { BND_CND_PRD, BND_CND_APRD, BND_CND_TWISTED, BND_CND_GPARITY };
enum MultiShiftSolveType { SINGLE, MULTI, GENERAL };
enum DagType { DAG_NO, DAG_YES };
enum ChkbType { CHKB_EVEN, CHKB_ODD };
enum InverterType { CG, BICGSTAB, EIGCG, LOWMODEAPPROX, CG_LOWMODE_DEFL };
enum RitzMatType { NONE, MAT_HERM, MATPC_HERM, MATPCDAG_MATPC, NEG_MATPCDAG_MATPC, MATDAG_MAT };
enum FclassType { F_CLASS_NONE, F_CLASS_STAG, F_CLASS_ASQTAD };
enum GclassType { G_CLASS_NONE, G_CLASS_WILSON };

class CgArg {
 public:
  Float mass, epsilon;
  int max_num_iter;
  Float stop_rsd, true_rsd;
  RitzMatType RitzMatOper;
  InverterType Inverter;
  int bicgstab_n;
  char* fname_eigen;
  int neig;
  CgArg() : mass(0), epsilon(0), max_num_iter(0), stop_rsd(0), true_rsd(0), RitzMatOper(NONE), Inverter(CG) {
    bicgstab_n = neig = 0;
    fname_eigen = nullptr;
  }
};
class EigArg {
 public:
  int N_eig = 0;
  Float RsdR_a = 0, mass = 0;
  RitzMatType RitzMatOper = MATPCDAG_MATPC;
};
class LanczosArg {
 public:
  RitzMatType RitzMat_convcheck = MATPCDAG_MATPC;
  Float mass = 0;
  int nk_lanczos_vectors = 0, np_lanczos_vectors = 0;
  Float stop_residual = 0;
};

class GlobalJobParameter {
 public:
  int node_sites[4], nodes[4], node_coor[4];
  BndCndType bc[4];
  Float twist[4], xi_bare, xi_v, xi_v_xi;
  int xi_dir;

  int NodeSites(int mu) const { return node_sites[mu]; }
  int Nodes(int mu) const { return nodes[mu]; }
  int NodeCoor(int mu) const { return node_coor[mu]; }
  int VolNodeSites() const { return node_sites[0] * node_sites[1] * node_sites[2] * node_sites[3]; }
  BndCndType Bc(int mu) const { return bc[mu]; }
  Float TwistAngle(int mu) const { return twist[mu]; }
  Float XiBare() const { return xi_bare; }
  Float XiV() const { return xi_v; }
  Float XiVXi() const { return xi_v_xi; }
  int XiDir() const { return xi_dir; }
  // Of asqtad, with the signs that staggered phases in the links want.
  Float KS_coeff() const { return 5.0 / 8; }
  Float Naik_coeff() const { return -1.0 / 24; }
  Float staple3_coeff() const { return -1.0 / 16; }
  Float staple5_coeff() const { return 1.0 / 64; }
  Float staple7_coeff() const { return -1.0 / 384; }
  Float Lepage_coeff() const { return -1.0 / 16; }
};
extern GlobalJobParameter GJP;

class Lattice {
 public:
  Lattice();
  virtual ~Lattice() {}

  Matrix* GaugeField() const { return links().data(); }
  StrOrdType StrOrd() { return order(); }
  void Convert(StrOrdType to);
  void Convert(StrOrdType to, Vector* f_field_1, Vector* f_field_2);
  void ClearSmeared() { smeared = 0; }

  virtual FclassType Fclass() const = 0;
  virtual GclassType Gclass() = 0;
  virtual void Fconvert(Vector* f_field, StrOrdType to, StrOrdType from, int cb = 2) = 0;
  virtual int FmatInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, Float* true_res, CnvFrmType cnv_frm = CNV_FRM_YES,
                      PreserveType prs_f_in = PRESERVE_YES) = 0;
  virtual int FmatEvlInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, Float* true_res,
                         CnvFrmType cnv_frm = CNV_FRM_YES) = 0;
  int FmatEvlInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, CnvFrmType cnv_frm = CNV_FRM_YES) {
    return FmatEvlInv(f_out, f_in, cg_arg, 0, cnv_frm);
  }
  virtual int FmatEvlMInv(Vector** f_out, Vector* f_in, Float* shift, int n, int isz, CgArg** cg_arg,
                          CnvFrmType cnv_frm, MultiShiftSolveType type, Float* alpha, Vector** f_out_d) = 0;
  virtual int FeigSolv(Vector** f_eigenv, Float* lambda, LanczosArg* eig_arg, CnvFrmType cnv_frm = CNV_FRM_YES) = 0;
  virtual int FeigSolv(Vector** f_eigenv, Float* lambda, Float* chirality, int* valid_eig, Float** hsum,
                       EigArg* eig_arg, CnvFrmType cnv_frm = CNV_FRM_YES) = 0;
  virtual Float SetPhi(Vector* phi, Vector* frm1, Vector* frm2, Float mass, DagType dag) = 0;
  virtual void Fdslash(Vector* f_out, Vector* f_in, CgArg* cg_arg, CnvFrmType cnv_frm, int dir_flag) = 0;
  virtual Float BhamiltonNode(Vector* boson, Float mass) = 0;
  virtual void BforceVector(Vector* in, CgArg* cg_arg) = 0;

  // Of tests only. As in CPS, all lattices share links and order.
  static std::vector<Matrix>& links();
  static StrOrdType& order();
  static int& own_operators();  // how often CPS's own Dirac operator was made

 protected:
  int smeared = 0;
};

class Gnone : public virtual Lattice {
 public:
  GclassType Gclass() { return G_CLASS_NONE; }
};
class Gwilson : public virtual Lattice {
 public:
  GclassType Gclass() { return G_CLASS_WILSON; }
};

class FstagTypes : public virtual Lattice {
 protected:
  int e_vsize;  // numbers of half a field
  Vector* f_tmp;

 public:
  FstagTypes();
  virtual ~FstagTypes();
  void Fconvert(Vector* f_field, StrOrdType to, StrOrdType from, int cb = 2);
  Vector* odd_hop() { return f_tmp; }  // of tests only

  // Fat and long links, t x y z in turn; NULL: the thin ones. Of the classes below.
  virtual const Matrix* near_links() { return nullptr; }
  virtual const Matrix* far_links() { return nullptr; }

  int FmatInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, Float* true_res, CnvFrmType cnv_frm, PreserveType prs_f_in);
  int FmatEvlInv(Vector* f_out, Vector* f_in, CgArg* cg_arg, Float* true_res, CnvFrmType cnv_frm);
  int FmatEvlMInv(Vector** f_out, Vector* f_in, Float* shift, int n, int isz, CgArg** cg_arg, CnvFrmType cnv_frm,
                  MultiShiftSolveType type, Float* alpha, Vector** f_out_d);
  int FeigSolv(Vector**, Float*, LanczosArg*, CnvFrmType) { return -1; }
  int FeigSolv(Vector**, Float*, Float*, int*, Float**, EigArg*, CnvFrmType) { return -1; }
  Float SetPhi(Vector* phi, Vector* frm_e, Vector* frm_o, Float mass, DagType dag);
  void Fdslash(Vector* f_out, Vector* f_in, CgArg* cg_arg, CnvFrmType cnv_frm, int dir_flag);
  Float BhamiltonNode(Vector* boson, Float mass);
  void BforceVector(Vector* in, CgArg* cg_arg);
};

class Fstag : public virtual FstagTypes {
 public:
  FclassType Fclass() const { return F_CLASS_STAG; }
};

// Smeared links. No constructor without an argument.
class Fsmear : public virtual Lattice {
 protected:
  std::vector<std::vector<Matrix>> fields;

 public:
  explicit Fsmear(int n_smear);
  Matrix* Fields(int n) { return fields.at(std::size_t(n)).data(); }
  virtual void Smear() = 0;
};

class Fasqtad : public virtual FstagTypes, public virtual Fsmear {
 public:
  Fasqtad() : Fsmear(3) {}
  FclassType Fclass() const { return F_CLASS_ASQTAD; }
  void Smear();
  const Matrix* near_links();
  const Matrix* far_links();
};
class Fp4 : public virtual FstagTypes, public virtual Fsmear {
 public:
  Fp4() : Fsmear(1) {}
  FclassType Fclass() const { return F_CLASS_NONE; }
  void Smear() {}
};

class GnoneFstag : public virtual Lattice, public virtual FstagTypes, public Gnone, public Fstag {};
class GwilsonFstag : public virtual Lattice, public virtual FstagTypes, public Gwilson, public Fstag {};
class GnoneFasqtad : public virtual Lattice, public virtual FstagTypes, public Gnone, public Fasqtad {
 public:
  GnoneFasqtad() : Fsmear(3) {}
};
class GwilsonFasqtad : public virtual Lattice, public virtual FstagTypes, public Gwilson, public Fasqtad {
 public:
  GwilsonFasqtad() : Fsmear(3) {}
};
class GnoneFp4 : public virtual Lattice, public virtual FstagTypes, public Gnone, public Fp4 {
 public:
  GnoneFp4() : Fsmear(1) {}
};

// Where CPS makes lattices that have no name: static, and of HMC always with G_CLASS_NONE. A program's own file has
// Create.
class LatticeFactory {
  static Lattice*& made() {
    static Lattice* lattice = nullptr;
    return lattice;
  }

 public:
  static Lattice& Create(FclassType fermion, GclassType gluon);
  static void Destroy() {
    delete made();
    made() = nullptr;
  }
};

CPS_END_NAMESPACE
