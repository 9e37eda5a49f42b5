/* disasm_none.c - stands in for disasm.c in a build without libcapstone. */
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/disasm/disasm.h"

struct disasm *disasm_open(uint16_t machine UNUSED, bool big UNUSED,
			   bool intel UNUSED, struct err *err)
{
	err_set(err, ERR_USAGE,
		"this program was built without libcapstone, which shows "
		"instructions; 'backstitch report --sort srcline' needs none");
	return NULL;
}

/* disasm_open() fails, so none of the functions below is ever called. */

void disasm_close(struct disasm *d UNUSED)
{
}

bool disasm_next(struct disasm *d UNUSED, const unsigned char **code UNUSED,
		 size_t *len UNUSED, uint64_t *addr UNUSED,
		 struct insn *out UNUSED)
{
	return false;
}

enum disasm_sp disasm_sp(const struct disasm *d UNUSED, int64_t *by UNUSED)
{
	return SP_SET;
}
