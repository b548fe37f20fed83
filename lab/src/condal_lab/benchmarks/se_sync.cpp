// Solves the pose graphs in g2o files with SE-Sync on one thread, and prints their costs.
// Link it with SE-Sync's library, and name the program in SE_SYNC for `python -m benchmarks applications`.
#include <cstdio>

#include "SESync/SESync.h"
#include "SESync/SESync_utils.h"

int main(int argc, char **argv) {
  for (int k = 1; k < argc; k++) {
    size_t poses;
    SESync::SESyncOpts options;
    options.verbose = false;
    options.num_threads = 1;
    auto measurements = SESync::read_g2o_file(argv[k], poses);
    printf("%.12g\n", SESync::SESync(measurements, options).Fxhat);
  }
}
