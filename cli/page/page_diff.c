/* page_diff.c - what changed between two recordings, in the HTML page of the
 * second. */
#include "cli/page/page_parts.h"

#include "analyze/stacks/flame_tree.h"
#include "analyze/stacks/label.h"
#include "stitch/text/json.h"
#include "cli/pictures/diff_model.h"
#include "cli/page/page_bytes.h"
#include "cli/pictures/palette.h"
#include "cli/tables/diff_text.h"

static void page_diff_put_sentence(const struct compare *c, diff_tell_fn *tell,
				   int which, struct json *j, const char *key)
{
	char *text = diff_said(c, tell, which);

	json_text(j, key, text);
	free(text);
}

/* Writes nine numbers of a row, of self or of total: the weights in A and B,
 * the samples in A and B, whether it takes more (1), less (-1) or neither is
 * proved (0), the p-value, how much larger it is in B than the unchanged rest
 * predicts, whether missing callers could explain that (1), and whether the
 * function is new (1) or gone (-1) by the programs. */
static void page_diff_put_place(const struct diff_rows *d, size_t row,
				bool total, struct json *j)
{
	const struct diff_place *p = &d->place[total][row];

	json_array(j, NULL);
	json_uint(j, NULL, d->row[row].weight[0][total]);
	json_uint(j, NULL, d->row[row].weight[1][total]);
	json_uint(j, NULL, p->a);
	json_uint(j, NULL, p->b);
	json_int(j, NULL, p->change);
	json_real(j, NULL, p->p);
	json_real(j, NULL, diff_rows_excess_of(d, row, total));
	json_int(j, NULL, diff_rows_doubtful(d, row, total));
	json_int(j, NULL, p->only);
	json_end(j);
}

static void page_diff_put_json(const struct diff_model *m, FILE *out)
{
	struct json j;

	fputs("<script type=\"application/json\" id=\"diff\">\n", out);
	json_open(&j, out, JSON_HTML);
	json_object(&j, NULL);
	json_shown(&j, "event",
		   compare_event(&m->c) ? compare_event(&m->c)
					: "several events");
	json_bool(&j, "absolute", m->c.d->absolute);
	json_uint(&j, "nodes", m->all->n);
	/* alone, images, cause, [of each side: what it is, how far it can be
	 * trusted], [what changed by self, by total] */
	page_diff_put_sentence(&m->c, diff_tell_alone, 0, &j, "alone");
	page_diff_put_sentence(&m->c, diff_tell_images, 0, &j, "images");
	page_diff_put_sentence(&m->c, diff_tell_cause, 0, &j, "cause");
	json_array(&j, "sides");
	for (int side = 0; side < 2; side++) {
		json_array(&j, NULL);
		page_diff_put_sentence(&m->c, diff_tell_side, side, &j, NULL);
		page_diff_put_sentence(&m->c, diff_tell_trust, side, &j, NULL);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "says");
	for (int total = 0; total < 2; total++)
		page_diff_put_sentence(&m->c, diff_tell_result, total, &j,
				       NULL);
	json_end(&j);
	json_real(&j, "scale", m->c.d->scale);
	json_int(&j, "cause_row",
		 m->c.d->cause.row == REPORT_NONE ? -1
						  : (int64_t)m->c.d->cause.row);
	json_array(&j, "weights");
	for (int side = 0; side < 2; side++)
		json_uint(&j, NULL, m->c.d->side[side].weight);
	json_end(&j);
	/* [name, class, kernel code, image, row or -1] */
	json_array(&j, "labels");
	for (uint32_t id = 0; id < labels_count(m->c.labels); id++) {
		const struct label *l = labels_get(m->c.labels, id);
		uint32_t row = diff_rows_of_label(m->c.d, id);
		char css_class[3];

		palette_class(l, css_class);
		json_array(&j, NULL);
		json_shown(&j, NULL, l->name);
		json_text(&j, NULL, css_class);
		json_uint(&j, NULL, l->kernel);
		json_shown(&j, NULL, l->image);
		json_int(&j, NULL, row == REPORT_NONE ? -1 : (int64_t)row);
		json_end(&j);
	}
	json_end(&j);
	/* [name, image, why it cannot be judged or null, [self], [total]] */
	json_array(&j, "functions");
	for (size_t row = 0; row < m->c.d->n; row++) {
		const struct label *l = diff_rows_label(m->c.d, row);

		json_array(&j, NULL);
		json_shown(&j, NULL, l->name);
		json_shown(&j, NULL, l->image);
		json_text(&j, NULL, m->c.d->row[row].unknown);
		page_diff_put_place(m->c.d, row, false, &j);
		page_diff_put_place(m->c.d, row, true, &j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	fputs("\n</script>\n", out);
}

void page_diff_write(const struct diff_model *m, FILE *out)
{
	struct blob b = { 0 };

	page_diff_put_json(m, out);
	for (uint32_t id = 0; id != FLAME_NONE;
	     id = flame_tree_next(m->all, id, 0)) {
		const struct flame_node *nd = &m->all->node[id];

		blob_leb(&b, nd->depth);
		blob_leb(&b, nd->label);
		for (int side = 0; side < 2; side++)
			blob_leb(&b, diff_model_node(m, side, id)->weight);
		for (int side = 0; side < 2; side++)
			blob_leb(&b, diff_model_node(m, side, id)->samples);
	}
	page_bytes_write(&b, "diff_nodes", out);
	blob_release(&b);
}
