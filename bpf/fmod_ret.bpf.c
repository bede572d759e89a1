/* Tier 2: the same hooks, by changing the results of the kernel's security_* functions; needs no LSM. */
#include "program.h"

#define HOOK(name) "fmod_ret/security_" name

#include "hooks.h"

char LICENSE[] SEC("license") = "GPL";
