/* disasm_none.c - stands in for disasm.c in a build without libcapstone. */
#include "stitch/base/err.h"
#include "symbolize/disasm/disasm.h"

struct disasm *disasm_open(uint16_t machine, bool big, bool intel,
			   struct err *err)
{
	(void)machine;
	(void)big;
	(void)intel;
	err_set(err, ERR_USAGE,
		"this program was built without libcapstone, which shows "
		"instructions; 'backstitch report --sort srcline' needs none");
	return NULL;
}

/* Nothing is open, so nothing below is ever called. */

void disasm_close(struct disasm *d)
{
	(void)d;
}

bool disasm_next(struct disasm *d, const unsigned char **code, size_t *len,
		 uint64_t *addr, struct insn *out)
{
	(void)d;
	(void)code;
	(void)len;
	(void)addr;
	(void)out;
	return false;
}

enum disasm_sp disasm_sp(const struct disasm *d, int64_t *by)
{
	(void)d;
	(void)by;
	return SP_SET;
}
