/* regs.c - what the sampled registers say without unwinding.
 *
 * The numbers are those of each architecture's uapi/asm/perf_regs.h. */
#include "stitch/regs.h"

#include <stddef.h>
#include <string.h>

#include "stitch/record.h"

static const struct {
	const char *arch; /* prefix of uname -m */
	unsigned int pc;
} places[] = {
	{ "x86_64", 8 },   { "i386", 8 },   { "i586", 8 },	{ "i686", 8 },
	{ "aarch64", 32 }, { "s390x", 33 }, { "riscv", 0 },	{ "ppc", 32 },
	{ "armv", 15 },	   { "arm64", 32 }, { "loongarch", 0 },
};

bool regs_pc(const struct regs *r, const char *arch, uint64_t *pc)
{
	if (!arch || !r->abi || !r->v)
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint64_t bit = 1ull << places[i].pc;

		if (strncmp(arch, places[i].arch, strlen(places[i].arch)))
			continue;
		/* Values stand in the order of the set bits. */
		unsigned int at =
			(unsigned int)__builtin_popcountll(r->mask & (bit - 1));

		if (!(r->mask & bit) || at >= r->n)
			return false;
		*pc = r->v[at];
		return true;
	}
	return false;
}
