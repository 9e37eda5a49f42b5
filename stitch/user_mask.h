/* user_mask.h - the bits of a user address that are the address. */
#pragma once
#include <stdint.h>
#include <string.h>

/* Returns the mask for user addresses of a machine (as in uname -m, or
 * "arm64"; NULL: unknown). Pointer authentication of AArch64 stores a code in
 * bits 54 to 48 at most; the masks of other machines keep all bits. A kernel
 * that defers stacks leaves the code in addresses ("arm64: SFrame user space
 * unwinding", version 1); others remove it. */
static inline uint64_t user_mask_of(const char *arch)
{
	if (arch && (!strcmp(arch, "aarch64") || !strcmp(arch, "arm64")))
		return ~(uint64_t)0x007f000000000000;
	return UINT64_MAX;
}
