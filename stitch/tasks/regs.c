/* regs.c - reads the program counter and the machine from sampled registers.
 *
 * Register numbers are those of each architecture's uapi/asm/perf_regs.h. */
#include "stitch/tasks/regs.h"

#include "stitch/base/mem.h"
#include "stitch/record.h"

static const struct {
	const char *arch; /* prefix of uname -m */
	unsigned int pc;
	uint16_t machine, machine_32; /* EM_*; 0: unwinding is not supported */
} places[] = {
	{ "x86_64", 8, MACHINE_X86_64, MACHINE_386 },
	{ "i386", 8, 0, MACHINE_386 },
	{ "i586", 8, 0, MACHINE_386 },
	{ "i686", 8, 0, MACHINE_386 },
	{ "aarch64", 32, MACHINE_AARCH64, 0 },
	{ "s390x", 33, MACHINE_S390, 0 },
	{ "riscv", 0, 0, 0 },
	{ "ppc", 32, 0, 0 },
	{ "armv", 15, 0, 0 },
	{ "arm64", 32, MACHINE_AARCH64, 0 },
	{ "loongarch", 0, 0, 0 },
};

#define PLACES ARRAY_SIZE(places)

static size_t regs_place(const char *arch)
{
	size_t i = arch ? 0 : PLACES;

	while (i < PLACES &&
	       strncmp(arch, places[i].arch, strlen(places[i].arch)))
		i++;
	return i;
}

bool regs_pc(const struct regs *r, const char *arch, uint64_t *pc)
{
	size_t i = regs_place(arch);

	if (i == PLACES || !r->abi || !r->v)
		return false;
	uint64_t bit = 1ull << places[i].pc;
	/* Values are in the order of the set bits. */
	unsigned int at =
		(unsigned int)__builtin_popcountll(r->mask & (bit - 1));

	if (!(r->mask & bit) || at >= r->n)
		return false;
	if (pc)
		*pc = r->v[at];
	return true;
}

uint16_t regs_machine(const struct regs *r, const char *arch)
{
	size_t i = regs_place(arch);

	if (i == PLACES)
		return 0;
	return r && r->abi == 1 ? places[i].machine_32 : places[i].machine;
}
