/* diff_alone.c - says when most of two recordings cannot be compared. */
#include "cli/diffs/diff_alone.h"

#include <stddef.h>

#include "cli/diffs/diff_rows.h"
#include "cli/stacks/label.h"
#include "cli/output/human.h"

/* Weight of user code on both sides: all of it, and that of functions which the
 * other side does not have. */
struct diff_alone {
	double all[2], alone[2];
};

static bool diff_alone_is_user(const struct label *l)
{
	return !l->kernel && l->kind != LABEL_GROUP && l->kind != LABEL_MISSING;
}

bool diff_alone_tell(const struct diff_rows *d, FILE *out)
{
	struct diff_alone a = { 0 };
	bool most = false;

	if (d->keys != (KEY_SYM | KEY_DSO))
		return false;
	for (size_t i = 0; i < d->n; i++) {
		const struct label *l = diff_rows_label(d, i);
		const struct diff_place *total = &d->place[1][i];

		if (!diff_alone_is_user(l))
			continue;
		for (int side = 0; side < 2; side++) {
			double self = (double)d->row[i].weight[side][0];

			a.all[side] += self;
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
		fputs(" of B are functions that the other does not have; if "
		      "an image was renamed: --match OLD=NEW",
		      out);
	}
	return most;
}
