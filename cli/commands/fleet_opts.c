/* fleet_opts.c - the options that say what the rows of a fleet are. */
#include "cli/commands/fleet_opts.h"

#include "cli/version.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/text/parse_number.h"

#define NS_PER_S 1000000000

static struct opt_list labels;
static const char *weighted;

const struct opt fleet_opts[] = {
	OPT_LIST(0, "label", "NAME=VALUE", &labels,
		 "a label of the runs; may be given several times"),
	OPT_STRING(0, "weighted", "TIME", &weighted,
		   "add samples up: one row for each TIME (1s, 100ms), thread "
		   "and stack"),
	{ .kind = OPT_END }
};

static int fleet_opts_period(uint64_t *out, struct err *err)
{
	int64_t ns;

	if (parse_duration(weighted, &ns) || ns < NS_PER_S / 1000 ||
	    ns > 3600ll * NS_PER_S)
		return err_set(
			err, ERR_USAGE,
			"--weighted needs a time from 1ms to 3600s, such "
			"as 1s, not '%s'",
			weighted);
	*out = (uint64_t)ns;
	return 0;
}

static int fleet_opts_labels(struct err *err)
{
	for (size_t i = 0; i < labels.n; i++) {
		const char *text = labels.item[i];
		size_t n = strcspn(text, "=");

		if (!n || !text[n])
			return err_set(err, ERR_USAGE,
				       "--label needs NAME=VALUE, not '%s'",
				       text);
		for (size_t k = 0; k < i; k++)
			if (!strncmp(labels.item[k], text, n + 1))
				return err_set(err, ERR_USAGE,
					       "--label %.*s is given twice",
					       (int)n, text);
	}
	return 0;
}

int fleet_opts_read(struct fleet_ask *out, const struct filter *filter,
		    struct err *err)
{
	*out = (struct fleet_ask){ .filter = filter,
				   .label = labels.item,
				   .n_label = labels.n,
				   .version = VERSION };
	if (fleet_opts_labels(err))
		return -1;
	return weighted ? fleet_opts_period(&out->period, err) : 0;
}
