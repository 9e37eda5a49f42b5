/* callsites_again.c - judges user stacks by what earlier call-site checks have
 * found: of databases that were merged. */
#include "cli/ingest/callsites.h"
#include "cli/ingest/callsites_pass.h"
#include "cli/model/bare_code.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

static int again_take_site(void *arg, const struct rows *r, struct err *err)
{
	struct pass *p = arg;
	int64_t frame = rows_int(r, AGAIN_SITES_FRAME);

	(void)err;
	if (frame < 1 || (uint64_t)frame >= p->code->n_frame)
		return 0;
	p->spot[frame].site.kind =
		(enum callsite_kind)rows_int(r, AGAIN_SITES_KIND);
	p->spot[frame].site.target = (uint64_t)rows_int(r, AGAIN_SITES_TARGET);
	return 0;
}

static int again_take_link(void *arg, const struct rows *r, struct err *err)
{
	struct pass *p = arg;
	struct store_link l = {
		.inner = (uint32_t)rows_int(r, AGAIN_LINKS_INNER),
		.frame = (uint32_t)rows_int(r, AGAIN_LINKS_FRAME),
		.link = (enum callsite_link)rows_int(r, AGAIN_LINKS_LINK),
	};

	(void)err;
	table_add(&p->by_pair, hash_u32s(l.inner, l.frame),
		  (uint32_t)p->n_link);
	*mem_add(p->link, p->n_link, p->cap_link) = l;
	return 0;
}

static int again_take_other(void *arg, const struct rows *r, struct err *err)
{
	struct pass *p = arg;
	int64_t image = rows_int(r, AGAIN_OTHERS_IMAGE);

	(void)err;
	if (image > 0 && (uint64_t)image < p->code->n_image)
		p->place[image].other = true;
	return 0;
}

int callsites_judge_again(struct store *db, struct err *err)
{
	struct pass p = { .db = db };
	int rc = callsites_load(&p, err);

	if (!rc)
		callsites_without_files(&p);
	if (!rc && (rows_each(db, "again_others", again_take_other, &p, err) ||
		    rows_each(db, "again_sites", again_take_site, &p, err) ||
		    rows_each(db, "again_links", again_take_link, &p, err) ||
		    store_links_drop(db, err) ||
		    callsites_check_stacks(&p, true, err) ||
		    callsites_put_trust(&p, err)))
		rc = -1;
	callsites_release(&p);
	return rc;
}
