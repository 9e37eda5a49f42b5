/* symbolize.c - names for offsets, one image at a time: the driver. */
#include "symbolize/symbolize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/frame.h"
#include "stitch/mem.h"
#include "symbolize/locate.h"
#include "symbolize/symbolizer.h"

/* Best first. The kernel: what the user named, what the capture itself says,
 * then a vmlinux proved by its build-id, then kallsyms proved by it. */
const struct resolver *const resolvers[] = { &resolve_recorded,
					     &resolve_kallsyms_file,
					     &resolve_kallsyms_captured,
					     &resolve_vmlinux,
					     &resolve_kallsyms_cache,
					     &resolve_kallsyms_live,
					     &resolve_elf,
					     NULL };

static char **copy_list(const char *const *list)
{
	size_t n = 0;

	if (!list)
		return NULL;
	while (list[n])
		n++;
	char **copy = mem_new(n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = mem_strdup(list[i]);
	return copy;
}

struct symbolizer *symbolize_new(const struct symbolize_opts *o)
{
	struct symbolizer *sy = mem_new(1, sizeof(*sy));

	if (!o)
		return sy;
	sy->opts = *o;
	sy->opts.symfs = mem_strdup(o->symfs);
	sy->opts.kallsyms = mem_strdup(o->kallsyms);
	sy->opts.vmlinux = mem_strdup(o->vmlinux);
	sy->opts.home = mem_strdup(o->home);
	sy->opts.debug_dirs = (const char *const *)copy_list(o->debug_dirs);
	return sy;
}

void symbolize_free(struct symbolizer *sy)
{
	if (!sy)
		return;
	free((char *)sy->opts.symfs);
	free((char *)sy->opts.kallsyms);
	free((char *)sy->opts.vmlinux);
	free((char *)sy->opts.home);
	char **dirs = (char **)sy->opts.debug_dirs;
	for (size_t i = 0; dirs && dirs[i]; i++)
		free(dirs[i]);
	free(dirs);
	kallsyms_free(sy->ks_file);
	kallsyms_free(sy->ks_cache);
	kallsyms_free(sy->ks_live);
	for (size_t i = 0; i < sy->n_captured; i++)
		kallsyms_free(sy->ks_captured[i]);
	free(sy->ks_captured);
	free(sy);
}

void symbolize_report_release(struct image_report *rep)
{
	free(rep->seg);
	rep->seg = NULL;
	rep->n_seg = 0;
}

void report_file(struct symbolizer *sy, const char *file)
{
	snprintf(sy->rep->file, sizeof(sy->rep->file), "%s", file);
}

void report_status(struct symbolizer *sy, const char *status)
{
	sy->rep->status = status;
}

static bool has_names(enum image_kind kind)
{
	switch (kind) {
	case IMAGE_FILE:
	case IMAGE_VDSO:
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
	case IMAGE_BPF:
	case IMAGE_OOL:
	case IMAGE_MAPPING:
	case IMAGE_JIT:
		return true;
	case IMAGE_UNKNOWN_USER:
	case IMAGE_UNKNOWN_KERNEL:
	case IMAGE_ANON:
	case IMAGE_SPECIAL:
	case IMAGE_GUEST:
	case IMAGE_SYMBOLS: /* have them already */
	case IMAGE_SCRIPT:
		break;
	}
	return false;
}

/* raw: the name that sy->name holds the plain form of. Offsets are sorted,
 * so one symbol's offsets come together and are demangled once. */
static void make_plain(struct symbolizer *sy, struct symbol *sym,
		       const char **raw)
{
	if (sym->raw_name != *raw) {
		*raw = NULL;
		if (!sy->opts.no_demangle &&
		    symbolize_demangle(sym->raw_name, sy->name,
				       sizeof(sy->name)))
			*raw = sym->raw_name;
	}
	sym->name = *raw ? sy->name : sym->raw_name;
}

static int name_all(struct symbolizer *sy, const struct resolver *rs, void *r,
		    const uint64_t *off, size_t n, symbol_fn *fn, void *arg,
		    struct err *err)
{
	const char *raw = NULL;
	bool unverified = !strcmp(sy->rep->status, "unverified");

	for (size_t i = 0; i < n; i++) {
		struct symbol sym = { .off = off[i] };

		if (rs && rs->resolve(r, off[i], &sym))
			make_plain(sy, &sym, &raw);
		else
			sym = (struct symbol){ .off = off[i] };
		sym.unverified = sym.name && unverified;
		if (fn(arg, &sym, err))
			return -1;
	}
	return 0;
}

int symbolize_image(struct symbolizer *sy, const struct image *img,
		    const uint64_t *off, size_t n, symbol_fn *fn, void *arg,
		    struct image_report *rep, struct err *err)
{
	const struct resolver *rs = NULL;
	const char *file = NULL;
	void *r = NULL;

	memset(rep, 0, sizeof(*rep));
	sy->rep = rep;
	rep->status = has_names(img->kind) ? "no file" : "no names";
	if ((img->kind == IMAGE_FILE || img->kind == IMAGE_VDSO ||
	     img->kind == IMAGE_MAPPING) &&
	    locate_report(sy, img))
		file = rep->file;
	for (size_t i = 0; resolvers[i] && has_names(img->kind); i++) {
		int got = resolvers[i]->open(sy, img, file, &r, err);

		if (got < 0)
			return -1;
		if (got) {
			rs = resolvers[i];
			break;
		}
	}
	int rc = name_all(sy, rs, r, off, n, fn, arg, err);
	if (rs)
		rs->close(r);
	sy->rep = NULL;
	return rc;
}
