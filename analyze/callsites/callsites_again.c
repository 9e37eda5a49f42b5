/* callsites_again.c - judges user stacks by what earlier call-site checks have
 * found: of databases that were merged. */
#include "analyze/callsites/callsites.h"
#include "analyze/callsites/callsites_pass.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"

int callsites_judge_again(struct maker *mk, struct err *err)
{
	struct pass p = { .mk = mk };
	struct rows *r;
	int rc = -1;

	if (callsites_load(&p, err))
		goto out;
	callsites_without_files(&p);
	if (callsites_check_made(&p, err))
		goto out;
	r = rows_of(maker_read(mk, err), "again_others", err);
	while (rows_step(r)) {
		int64_t image = rows_int(r, AGAIN_OTHERS_IMAGE);

		if (image > 0 && (uint64_t)image < p.code->n_image)
			p.place[image].other = true;
	}
	if (rows_end(r, err))
		goto out;
	r = rows_of(maker_read(mk, err), "again_sites", err);
	while (rows_step(r)) {
		int64_t frame = rows_int(r, AGAIN_SITES_FRAME);
		int64_t kind = rows_int(r, AGAIN_SITES_KIND);
		int64_t target = rows_int(r, AGAIN_SITES_TARGET);

		if (frame < 1 || (uint64_t)frame >= p.code->n_frame)
			continue;
		p.spot[frame].site.kind = (enum callsite_kind)kind;
		p.spot[frame].site.target = (uint64_t)target;
	}
	if (rows_end(r, err))
		goto out;
	r = rows_of(maker_read(mk, err), "merge_ends", err);
	while (rows_step(r)) {
		int64_t frame = rows_int(r, MERGE_ENDS_FRAME);

		if (frame < 1 || (uint64_t)frame >= p.code->n_frame)
			continue;
		p.spot[frame].start = (uint8_t)rows_int(r, MERGE_ENDS_START);
		p.spot[frame].open = (uint8_t)rows_int(r, MERGE_ENDS_OPEN);
		p.spot[frame].bytes = (uint32_t)rows_int(r, MERGE_ENDS_BYTES);
		p.spot[frame].sframe = rows_int(r, MERGE_ENDS_SFRAME) != 0;
	}
	if (rows_end(r, err))
		goto out;
	r = rows_of(maker_read(mk, err), "again_links", err);
	while (rows_step(r)) {
		int64_t link = rows_int(r, AGAIN_LINKS_LINK);
		struct store_link l = {
			.inner = (uint32_t)rows_int(r, AGAIN_LINKS_INNER),
			.frame = (uint32_t)rows_int(r, AGAIN_LINKS_FRAME),
			.link = (enum callsite_link)link,
		};

		table_add(&p.by_pair, hash_u32s(l.inner, l.frame),
			  (uint32_t)p.n_link);
		*mem_add(p.link, p.n_link, p.cap_link) = l;
	}
	if (rows_end(r, err))
		goto out;
	if (!store_links_drop(mk, err) && !callsites_find_kernel(&p, err) &&
	    !callsites_check_stacks(&p, true, err) &&
	    !callsites_put_trust(&p, err))
		rc = 0;
out:
	callsites_release(&p);
	return rc;
}
