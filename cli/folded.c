/* folded.c - the text form of stacks: "comm;main;read;vfs_read_[k] 12". */
#include "cli/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/flame_tree.h"
#include "cli/label.h"
#include "cli/plain.h"
#include "stitch/err.h"
#include "stitch/mem.h"

static const struct {
	enum label_kind kind;
	const char *suffix;
} suffixes[] = {
	{ LABEL_KERNEL, "_[k]" },
	{ LABEL_INLINED, "_[i]" },
	{ LABEL_JIT, "_[j]" },
};
#define N_SUFFIXES (sizeof(suffixes) / sizeof(*suffixes))

/* Cuts the suffix off the name and gives the kind it stood for. */
static enum label_kind kind_of(char *name, bool first)
{
	size_t len = strlen(name);

	if (first)
		return LABEL_GROUP;
	if (!strncmp(name, "[user: ", 7))
		return LABEL_MISSING;
	for (size_t i = 0; i < N_SUFFIXES; i++) {
		if (len > 4 && !strcmp(name + len - 4, suffixes[i].suffix)) {
			name[len - 4] = 0;
			return suffixes[i].kind;
		}
	}
	return name[0] == '[' ? LABEL_UNNAMED : LABEL_USER;
}

/* The count behind the last space; a fraction is cut. Ends the line there. */
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

struct stack_buf {
	uint32_t *label;
	size_t n, cap;
};

static void split(char *line, struct labels *labels, struct stack_buf *b)
{
	b->n = 0;
	for (char *s = strsep(&line, ";"); s; s = strsep(&line, ";")) {
		struct label l = { .kind = kind_of(s, !b->n),
				   .name = s,
				   .image = "" };

		l.kernel = l.kind == LABEL_KERNEL;
		if (l.kernel && s[0] == '[')
			l.kind = LABEL_UNNAMED;

		b->label = mem_grow(b->label, &b->cap, b->n + 1,
				    sizeof(*b->label));
		b->label[b->n++] = labels_add(labels, &l);
	}
}

static void turn_round(struct stack_buf *b)
{
	for (size_t i = 0; i < b->n / 2; i++) {
		uint32_t l = b->label[i];

		b->label[i] = b->label[b->n - 1 - i];
		b->label[b->n - 1 - i] = l;
	}
}

int folded_read(FILE *in, struct labels *labels, struct flame_tree *t,
		bool reverse, uint64_t *bad, struct err *err)
{
	struct stack_buf b = { 0 };
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int rc = 0;

	while (!rc && (len = getline(&line, &cap, in)) >= 0) {
		uint64_t count;

		while (len && strchr("\r\n ", line[len - 1]))
			line[--len] = 0;
		if (!len || line[0] == '#')
			continue;
		if (!take_count(line, &count)) {
			++*bad;
			continue;
		}
		split(line, labels, &b);
		if (reverse)
			turn_round(&b);
		rc = flame_tree_add(t, b.label, b.n, count, count, err);
	}
	if (!rc && ferror(in))
		rc = err_set(err, ERR_IO, "cannot read: %s", strerror(errno));
	free(line);
	free(b.label);
	return rc;
}

void folded_name(FILE *out, const struct label *l)
{
	plain_text(out, l->name, ';', ':');

	enum label_kind kind =
		l->kernel && l->kind == LABEL_UNNAMED ? LABEL_KERNEL : l->kind;

	for (size_t i = 0; i < N_SUFFIXES; i++) {
		if (suffixes[i].kind == kind)
			fputs(suffixes[i].suffix, out);
	}
}

int folded_write(FILE *out, const struct flame_tree *t, struct err *err)
{
	const struct labels *labels = flame_tree_labels(t);
	struct stack_buf path = { 0 };

	for (uint32_t id = 0; id != FLAME_NONE;
	     id = flame_tree_next(t, id, 0)) {
		const struct flame_node *nd = flame_tree_node(t, id);

		path.label = mem_grow(path.label, &path.cap, nd->depth + 1,
				      sizeof(*path.label));
		path.label[nd->depth] = nd->label;
		if (!nd->self || !nd->depth)
			continue;
		for (uint32_t i = 1; i <= nd->depth; i++) {
			if (i > 1)
				fputc(';', out);
			folded_name(out, labels_get(labels, path.label[i]));
		}
		fprintf(out, " %llu\n", (unsigned long long)nd->self);
	}
	free(path.label);
	if (ferror(out))
		return err_set(err, ERR_IO, "cannot write: %s",
			       strerror(errno));
	return 0;
}
