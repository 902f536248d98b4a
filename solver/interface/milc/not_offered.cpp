// Functions that MILC can be built to call and Staghorn does not offer. Each ends the job with one line, so that no
// option of MILC fails when it is linked.
#include <quda_milc_interface.h>

#include "solver/interface/milc/failure.hpp"

using staghorn::milc::refuse;

void qudaGaugeFixingFFT(int, unsigned int, int, int, double, unsigned int, double, unsigned int, void*) {
  refuse("qudaGaugeFixingFFT", "");
}

void qudaGaugeForce(int, int, double[3], double, QudaMILCSiteArg_t*) { refuse("qudaGaugeForce", "WANT_GF_GPU="); }
void qudaGaugeForcePhased(int, int, double[3], double, QudaMILCSiteArg_t*, int) {
  refuse("qudaGaugeForcePhased", "WANT_GF_GPU=");
}
void qudaUpdateU(int, double, QudaMILCSiteArg_t*) { refuse("qudaUpdateU", "WANT_GF_GPU="); }
void qudaUpdateUPhased(int, double, QudaMILCSiteArg_t*, int) { refuse("qudaUpdateUPhased", "WANT_GF_GPU="); }
void qudaUpdateUPhasedPipeline(int, double, QudaMILCSiteArg_t*, int, int) {
  refuse("qudaUpdateUPhasedPipeline", "WANT_GF_GPU=");
}
void qudaMomLoad(int, QudaMILCSiteArg_t*) { refuse("qudaMomLoad", "WANT_GF_GPU="); }
void qudaMomSave(int, QudaMILCSiteArg_t*) { refuse("qudaMomSave", "WANT_GF_GPU="); }
void qudaRephase(int, void*, int, double) { refuse("qudaRephase", "WANT_GF_GPU="); }

void qudaHisqForce(int, int, int, double, double**, void**, const double[6], const double[6], const void*, const void*,
                   const void*, void*) {
  refuse("qudaHisqForce", "WANT_FF_GPU=");
}
void qudaAsqtadForce(int, const double[6], const void* const[4], const void* const[4], const void*, void*) {
  refuse("qudaAsqtadForce", "WANT_FF_GPU=");
}
void qudaComputeOprod(int, int, int, double**, double, void**, void* [3]) {
  refuse("qudaComputeOprod", "WANT_FF_GPU=");
}

void qudaCloverInvert(int, int, double, double, QudaInvertArgs_t, double, double, const void*, void*, void*, void*,
                      void*, double*, double*, int*) {
  refuse("qudaCloverInvert", "WANT_CL_BCG_GPU=");
}
void qudaEigCGCloverInvert(int, int, double, double, QudaInvertArgs_t, double, double, const void*, void*, void*, void*,
                           void*, QudaEigArgs_t, int, int, double*, double*, int*) {
  refuse("qudaEigCGCloverInvert", "WANT_CL_BCG_GPU=");
}
void qudaCloverMultishiftInvert(int, int, int, double*, double, double, QudaInvertArgs_t, const double*, void*, void**,
                                double*, int*) {
  refuse("qudaCloverMultishiftInvert", "WANT_CL_BCG_GPU=");
}
void qudaLoadGaugeField(int, int, QudaInvertArgs_t, const void*) { refuse("qudaLoadGaugeField", "WANT_CL_BCG_GPU="); }
void qudaFreeGaugeField() { refuse("qudaFreeGaugeField", "WANT_CL_BCG_GPU="); }
void qudaLoadCloverField(int, int, QudaInvertArgs_t, void*, void*, QudaSolutionType, QudaSolveType, double, int,
                         double*) {
  refuse("qudaLoadCloverField", "WANT_CL_BCG_GPU=");
}
void qudaFreeCloverField() { refuse("qudaFreeCloverField", "WANT_CL_BCG_GPU="); }
void qudaCloverForce(void*, double, void**, void**, double*, double, double, int, double, void*, int,
                     QudaInvertArgs_t) {
  refuse("qudaCloverForce", "WANT_CL_BCG_GPU=");
}
void qudaCloverTrace(void*, void*, int, int) { refuse("qudaCloverTrace", "WANT_CL_BCG_GPU="); }
void qudaCloverDerivative(void*, void*, void*, int, int, double, int, int, int) {
  refuse("qudaCloverDerivative", "WANT_CL_BCG_GPU=");
}
void* qudaCreateExtendedGaugeField(void*, int, int) {
  refuse("qudaCreateExtendedGaugeField", "WANT_CL_BCG_GPU=");
  return nullptr;
}
void* qudaResidentExtendedGaugeField(void*, int, int) {
  refuse("qudaResidentExtendedGaugeField", "WANT_CL_BCG_GPU=");
  return nullptr;
}
void* qudaCreateGaugeField(void*, int, int) {
  refuse("qudaCreateGaugeField", "WANT_CL_BCG_GPU=");
  return nullptr;
}
void qudaSaveGaugeField(void*, void*) { refuse("qudaSaveGaugeField", "WANT_CL_BCG_GPU="); }
void qudaDestroyGaugeField(void*) { refuse("qudaDestroyGaugeField", "WANT_CL_BCG_GPU="); }

void qudaSetLayout(QudaLayout_t) { refuse("qudaSetLayout", ""); }
void qudaDDInvert(int, int, double, QudaInvertArgs_t, double, double, const int*, const void*, const void*, void*,
                  void*, double*, double*, int*) {
  refuse("qudaDDInvert", "");
}
void qudaEigCGInvert(int, int, double, QudaInvertArgs_t, double, double, const void*, const void*, void*, void*,
                     QudaEigArgs_t, int, int, double*, double*, int*) {
  refuse("qudaEigCGInvert", "");
}
