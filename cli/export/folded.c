/* folded.c - the text form of stacks: "comm;main;read;vfs_read_[k] 12". */
#include "cli/export/folded.h"

#include <errno.h>
#include <stdbool.h>

#include "analyze/stacks/flame_tree.h"
#include "analyze/stacks/label.h"
#include "stitch/text/safe_text.h"
#include "analyze/stacks/stack_names.h"
#include "analyze/names/name_opts.h"
#include "analyze/names/suffix.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

static const struct {
	enum label_kind kind;
	const char *suffix;
} suffixes[] = {
	{ LABEL_KERNEL, "_[k]" },
	{ LABEL_INLINED, "_[i]" },
	{ LABEL_JIT, "_[j]" },
};
#define N_SUFFIXES ARRAY_SIZE(suffixes)

/* Returns the kind of a frame, and cuts the kind's suffix off the name. */
static enum label_kind folded_kind_of(char *name, bool first)
{
	size_t len = strlen(name);

	if (first)
		return LABEL_GROUP;
	if (!strncmp(name, "[user: ", 7) || !strncmp(name, "[kernel: ", 9) ||
	    !strcmp(name, STACK_NAMES_GAP))
		return LABEL_MISSING;
	for (size_t i = 0; i < N_SUFFIXES; i++) {
		if (len > 4 && !strcmp(name + len - 4, suffixes[i].suffix)) {
			name[len - 4] = 0;
			return suffixes[i].kind;
		}
	}
	return name[0] == '[' ? LABEL_UNNAMED : LABEL_USER;
}

/* Stores the count after the last space, without a fraction, and ends the line
 * there. Returns false if there is none. */
static bool take_count(char *line, uint64_t *count)
{
	char *sp = strrchr(line, ' ');
	char *end;

	if (!sp || sp == line || sp[1] < '0' || sp[1] > '9')
		return false;
	errno = 0;
	*count = strtoull(sp + 1, &end, 10);
	if (errno)
		return false;
	if (*end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	*sp = 0;
	return !*end;
}

int folded_read(FILE *in, const struct name_opts *names, struct labels *labels,
		folded_fn *fn, void *arg, uint64_t *bad, struct err *err)
{
	struct label_list b = { 0 };
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int rc = 0;

	while (rc >= 0 && (len = getline(&line, &cap, in)) >= 0) {
		uint64_t count;
		char *s;

		while (len && strchr("\r\n ", line[len - 1]))
			line[--len] = 0;
		if (!len || line[0] == '#')
			continue;
		if (!take_count(line, &count)) {
			++*bad;
			continue;
		}
		b.n = 0;
		char *rest = line;
		while ((s = strsep(&rest, ";"))) {
			struct label l = { .kind = folded_kind_of(s, !b.n),
					   .name = s,
					   .image = "" };

			if (names->fold_suffixes && l.kind != LABEL_GROUP)
				suffix_remove(s, OF_BUILD);
			l.kernel = l.kind == LABEL_KERNEL;
			if (l.kernel && s[0] == '[')
				l.kind = LABEL_UNNAMED;
			label_list_add(&b, labels_add(labels, &l));
		}
		rc = fn(arg, &b, count, err);
	}
	if (rc >= 0 && ferror(in))
		rc = err_set(err, ERR_IO, "cannot read: %s", strerror(errno));
	free_all(line, b.label);
	return rc < 0 ? -1 : 0;
}

void folded_stack(FILE *out, const struct labels *labels, const uint32_t *label,
		  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			putc(';', out);

		const struct label *l = labels_get(labels, label[i]);
		enum label_kind kind = l->kernel && l->kind == LABEL_UNNAMED
					       ? LABEL_KERNEL
					       : l->kind;

		safe_text_put(out, l->name, ';', ':');
		for (size_t k = 0; k < N_SUFFIXES; k++)
			if (suffixes[k].kind == kind)
				fputs(suffixes[k].suffix, out);
	}
}

int folded_write(FILE *out, const struct flame_tree *t, struct err *err)
{
	struct label_list path = { 0 };
	uint32_t id = 0;

	while ((id = flame_tree_next(t, id, 0)) != FLAME_NONE) {
		const struct flame_node *nd = &t->node[id];

		path.n = nd->depth - 1;
		label_list_add(&path, nd->label);
		if (!nd->self)
			continue;
		folded_stack(out, t->labels, path.label, path.n);
		fprintf(out, " %llu\n", (unsigned long long)nd->self);
	}
	free(path.label);
	return ferror(out) ? err_set(err, ERR_IO, "cannot write: %s",
				     strerror(errno))
			   : 0;
}
