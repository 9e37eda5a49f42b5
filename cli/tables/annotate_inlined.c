/* annotate_inlined.c - the functions that one was inlined into, with the
 * samples in it, and its lines. */

#include "cli/output/grid.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "cli/tables/annotated.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

COMPARE_FUNCTION(inlined_compare, struct inlined_into,
		 compare_numbers(y->weight, x->weight)
			 ?: compare_numbers(y->samples, x->samples)
			 ?: compare_numbers(x->func, y->func));

int inlined_load(struct inlined_copies *in, struct store *db,
		 const struct hot *h, const char *what, const char *dso,
		 struct err *err)
{
	*in = (struct inlined_copies){ .h = h, .what = what, .dso = dso };
	for (size_t i = 0; i < h->n_spot; i++)
		if (h->spot[i].frame >= in->n_spot)
			in->n_spot = h->spot[i].frame + 1;
	in->spot = mem_new(in->n_spot + 1, sizeof(*in->spot));
	for (size_t i = 0; i < h->n_spot; i++)
		in->spot[h->spot[i].frame] = (uint32_t)i + 1;
	in->into = mem_new(h->n_func + 1, sizeof(*in->into));
	for (uint32_t i = 0; i < h->n_func; i++)
		in->into[i].func = i;
	struct rows *r = rows_of(db, "code_inlines", err);
	while (rows_step(r)) {
		const char *name = rows_text(r, CODE_INLINES_NAME);
		int64_t frame = rows_int(r, CODE_INLINES_FRAME);

		/* the innermost of a frame comes first */
		if (frame < 1 || (uint64_t)frame >= in->n_spot ||
		    !in->spot[frame] || !hot_is_called(name, what))
			continue;
		const struct hot_spot *s = &h->spot[in->spot[frame] - 1];

		in->spot[frame] = 0;
		if (!hot_in_dso(in->h, s->image, dso))
			continue;
		if (!in->name)
			in->name = arena_strdup(&in->text, name);
		in->weight += s->weight;
		in->samples += s->samples;
		in->into[s->func].weight += s->weight;
		in->into[s->func].samples += s->samples;
		hot_lines_add(&in->lines, rows_text(r, CODE_INLINES_FILE),
			      (uint32_t)rows_int(r, CODE_INLINES_LINE),
			      s->weight, s->samples);
	}
	int rc = rows_end(r, err);
	sort_items(in->into, h->n_func, inlined_compare);
	while (in->n_into < h->n_func && in->into[in->n_into].samples)
		in->n_into++;
	hot_lines_sort(&in->lines);
	return rc;
}

void inlined_release(struct inlined_copies *in)
{
	hot_lines_release(&in->lines);
	free_all(in->spot, in->into);
	arena_release(&in->text);
}

static struct grid *inlined_grid(const struct inlined_copies *in, bool json)
{
	static const struct grid_column col[] = {
		{ "Share %", "share_percent" },
		{ "Samples", "samples" },
		{ NULL, "weight" },
		{ "Inlined into", "symbol" },
		{ NULL, "image" },
		{ "Image", NULL },
	};
	struct grid *g = grid_new(col, ARRAY_SIZE(col));

	for (size_t i = 0; i < in->n_into; i++) {
		const struct inlined_into *to = &in->into[i];
		const struct hot_func *f = &in->h->func[to->func];
		const char *path = in->h->path[f->image];

		grid_percent(g, to->weight, in->weight);
		grid_number(g, to->samples);
		grid_number(g, to->weight);
		grid_text(g, !f->name ? "[no name]"
			     : json   ? f->name
				      : f->shown);
		grid_text(g, path ? path : "");
		grid_text(g, hot_base(in->h, f->image));
	}
	return g;
}

static void inlined_put_sum(FILE *out, const struct inlined_copies *in)
{
	fprintf(out, "%s%s%s of all, in %zu function%s",
		HUMAN_GROUPED(in->samples),
		in->samples == 1 ? " sample, " : " samples, ",
		HUMAN_PERCENT(in->weight, in->h->weight), in->n_into,
		in->n_into == 1 ? "" : "s");
}

void inlined_mention(FILE *out, const struct inlined_copies *in)
{
	if (!in->samples)
		return;
	fputs("inlined too: ", out);
	inlined_put_sum(out, in);
	fputs("; --inlined shows them\n", out);
}

void inlined_text(const struct inlined_copies *in, const char *path)
{
	struct grid *g = inlined_grid(in, false);

	term_wrap(stdout, in->h->trust, 0, 2, term_limit(stdout));
	fputs(term_on(stdout, STYLE_BOLD), stdout);
	safe_text_put(stdout, in->what, 0, 0);
	fputs(term_off(stdout), stdout);
	fputs(", inlined\nevent: ", stdout);
	safe_text_put(stdout, in->h->event, 0, 0);
	fputs(", ", stdout);
	inlined_put_sum(stdout, in);
	fputs("\n\n", stdout);
	hot_lines_put(stdout, &in->lines, in->weight);
	grid_write(g, "table", stdout);
	grid_free(g);
	fputs("\n'backstitch annotate ", stdout);
	safe_text_put(stdout, path, 0, 0);
	fputs(" FUNCTION' shows the instructions of one of these\n", stdout);
}

void inlined_json(const struct inlined_copies *in)
{
	struct grid *g = inlined_grid(in, true);
	struct json j;

	json_answer(&j, stdout, JSON_COMPACT);
	json_text(&j, "function", in->name);
	json_text(&j, "event", in->h->event);
	json_text(&j, "unit", in->h->unit);
	json_text(&j, "user_stacks", in->h->trust);
	json_uint(&j, "samples", in->samples);
	json_uint(&j, "weight", in->weight);
	json_uint(&j, "all_samples", in->h->samples);
	json_uint(&j, "all_weight", in->h->weight);
	hot_lines_json(&j, &in->lines);
	grid_json(g, &j, "inlined_into");
	json_finish(&j);
	grid_free(g);
}
