/* Tier 1: BPF LSM. Loads on every kernel with CONFIG_BPF_LSM, but runs only if `bpf` is in lsm=. */
#include "program.h"

#define HOOK(name) "lsm/" name

#include "hooks.h"

char LICENSE[] SEC("license") = "GPL";
