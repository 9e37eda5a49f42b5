/* diff_alone.c - says when most of two recordings cannot be compared. */
#include "cli/model/diff_alone.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cli/model/diff_rows.h"
#include "cli/model/label.h"
#include "cli/output/human.h"
#include "cli/output/safe_text.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

/* Weight of user code on both sides: all of it, and that of functions which the
 * other side does not have. */
struct diff_alone {
	const struct diff_rows *d;
	double all[2], alone[2];
	struct intern images;
	struct alone_image {
		double weight[2];
	} * image;
	size_t n, cap;
};

static bool diff_alone_is_user(const struct label *l)
{
	return !l->kernel && l->kind != LABEL_GROUP && l->kind != LABEL_MISSING;
}

/* Returns the image with the most weight of those that are on one side only; -1
 * if there is none. */
static int64_t diff_alone_heaviest(const struct diff_alone *a, int side)
{
	int64_t best = -1;

	for (size_t i = 0; i < a->n; i++) {
		double weight = a->image[i].weight[side];

		if (!(a->image[i].weight[!side] > 0) && weight > 0 &&
		    (best < 0 || weight > a->image[best].weight[side]))
			best = (int64_t)i;
	}
	return best;
}

/* Returns whether the functions with most weight of an image of A have their
 * names in an image of B. */
static bool diff_alone_is_renamed(struct diff_alone *a, uint32_t old,
				  uint32_t now)
{
	struct intern names = { 0 };
	double same = 0;
	size_t known;

	for (size_t i = 0; i < a->d->n; i++) {
		const struct label *l = diff_rows_label(a->d, i);

		if (diff_alone_is_user(l) && a->d->place[1][i].b &&
		    intern_add(&a->images, l->image) == now)
			intern_add(&names, l->name);
	}
	known = names.n;
	for (size_t i = 0; i < a->d->n; i++) {
		const struct label *l = diff_rows_label(a->d, i);

		if (diff_alone_is_user(l) &&
		    intern_add(&a->images, l->image) == old &&
		    intern_add(&names, l->name) < known)
			same += (double)a->d->row[i].weight[0][0];
	}
	intern_release(&names);
	return same > a->image[old].weight[0] / 2;
}

static void diff_alone_advise(struct diff_alone *a, FILE *out)
{
	int64_t old = diff_alone_heaviest(a, 0);
	int64_t now = diff_alone_heaviest(a, 1);

	if (old < 0 || now < 0 ||
	    !diff_alone_is_renamed(a, (uint32_t)old, (uint32_t)now)) {
		fputs("; if an image was renamed: --match OLD=NEW", out);
		return;
	}
	fputs("; an image seems to be renamed: --match ", out);
	safe_text_put(out, intern_get(&a->images, (uint32_t)old), 0, 0);
	putc('=', out);
	safe_text_put(out, intern_get(&a->images, (uint32_t)now), 0, 0);
}

bool diff_alone_tell(const struct diff_rows *d, FILE *out)
{
	struct diff_alone a = { .d = d };
	bool most = false;

	if (d->keys != (KEY_SYM | KEY_DSO))
		return false;
	for (size_t i = 0; i < d->n; i++) {
		const struct label *l = diff_rows_label(d, i);
		const struct diff_place *total = &d->place[1][i];
		uint32_t id;

		if (!diff_alone_is_user(l))
			continue;
		id = intern_add(&a.images, l->image);
		a.image = mem_reach(a.image, &a.n, &a.cap, (size_t)id + 1,
				    sizeof(*a.image));
		for (int side = 0; side < 2; side++) {
			double self = (double)d->row[i].weight[side][0];

			a.all[side] += self;
			a.image[id].weight[side] += self;
			if (!(side ? total->a : total->b))
				a.alone[side] += self;
		}
	}
	for (int i = 0; i < 2; i++)
		most |= a.alone[i] > a.all[i] / 2;
	if (most) {
		fputs("most cannot be compared: ", out);
		human_put_percent(out, a.alone[0], a.all[0]);
		fputs(" of the user code of A and ", out);
		human_put_percent(out, a.alone[1], a.all[1]);
		fputs(" of B are functions that the other does not have", out);
		diff_alone_advise(&a, out);
	}
	intern_release(&a.images);
	free(a.image);
	return most;
}
