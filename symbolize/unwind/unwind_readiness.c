/* unwind_readiness.c - finds out by which methods a stack can be unwound
 * through an image. */
#include "symbolize/unwind/unwind_readiness.h"

#include <elf.h>

#include "stitch/base/mem.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/elf/elf.h"
#include "symbolize/sframe/sframe.h"

#define WORD 8

struct unwind_readiness *unwind_readiness_open(struct symbolizer *sy,
					       const struct image *img,
					       enum image_status *why)
{
	struct identity_answer said;
	struct elf_file *ef = code_bytes_find_file(sy, img, &said);
	struct sframe_file sframe;

	*why = said.status;
	if (!ef)
		return NULL;
	struct unwind_readiness *r = mem_new(1, sizeof(*r));

	r->machine = ef->machine;
	r->n_seg = ef->n_seg;
	r->seg = mem_dup(ef->seg, ef->n_seg * sizeof(*ef->seg));
	r->sframe = sframe_file_open(ef, &sframe, NULL);
	if (r->sframe == 1) {
		r->sframe = sframe.sf.head.version;
		r->by_sframe = sframe_table(&sframe.sf, NULL);
		sframe_file_release(&sframe);
	}
	struct cfi *cfi = cfi_open(ef, ".eh_frame");
	if (cfi)
		r->by_eh = cfi_rows(cfi, 0, 1);
	cfi_close(cfi);
	elf_file_close(ef);
	return r;
}

void unwind_readiness_close(struct unwind_readiness *r)
{
	if (!r)
		return;
	unwind_rows_free(r->by_sframe);
	unwind_rows_free(r->by_eh);
	free_all(r->seg, r);
}

static bool unwind_readiness_rule_at(const struct unwind_rows *t,
				     uint64_t vaddr, struct unwind_rule *out)
{
	const struct unwind_row *row = t ? unwind_rows_find(t, vaddr) : NULL;

	if (!row)
		return false;
	unwind_rows_rule(t, row, out);
	return out->kind != ROW_GAP;
}

/* Frame-pointer chains need FP and return address saved next to each other. On
 * x86-64 the CFA is then relative to FP; on AArch64 compilers keep it relative
 * to SP. */
static bool unwind_readiness_has_chain(const struct unwind_readiness *r,
				       const struct unwind_rule *rule)
{
	bool record = rule->fp.kind == PLACE_CFA &&
		      rule->ra.kind == PLACE_CFA &&
		      rule->ra.off == rule->fp.off + WORD;

	if (rule->kind == ROW_OUTERMOST)
		return true;
	if (r->machine == EM_X86_64)
		return rule->kind == ROW_FP && rule->cfa == 2 * WORD && record;
	return r->machine == EM_AARCH64 && record;
}

unsigned int unwind_readiness_at(const struct unwind_readiness *r, uint64_t off)
{
	struct unwind_rule eh;
	struct unwind_rule sf;
	unsigned int by = 0;
	uint64_t vaddr;

	if (!elf_vaddr(r->seg, r->n_seg, off, &vaddr))
		return 0;
	if (unwind_readiness_rule_at(r->by_sframe, vaddr, &sf))
		by |= READY_SFRAME;
	if (unwind_readiness_rule_at(r->by_eh, vaddr, &eh))
		by |= READY_EH;
	if (by && unwind_readiness_has_chain(r, by & READY_EH ? &eh : &sf))
		by |= READY_FP;
	return by;
}
