package kernel

// stackPointer selects PERF_REG_ARM64_SP.
const stackPointer = 1 << 31
