/* sums_code.c - the code of a database of sums, which is never written.
 *
 * A command that needs sums once reads every frame, stack and chain right after
 * they were stored. Not writing and reading them as rows saves 17 % of the
 * instructions of a first look at the frame-pointer stacks of a whole system,
 * and with what the unwinder keeps 35 % for stack dumps. */
#include "schema/db/sums_code.h"

#include "schema/db/db.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"

struct code_name {
	const char *name; /* NULL: unknown */
	const char *file; /* likewise */
	uint64_t symoff;
};

struct sums_code {
	const struct frames *fr;
	struct frames *own; /* frames that are freed with it; NULL: the caller
			       frees them */
	struct code_name *name; /* by frame */
	size_t n, cap;
	struct arena text;
};

struct sums_code *sums_code_new(const struct frames *fr)
{
	struct sums_code *sc = mem_new(1, sizeof(*sc));

	sc->fr = fr;
	return sc;
}

void store_sums_own(struct store *db, struct frames *fr)
{
	db->sums->own = fr;
}

void sums_code_free(struct sums_code *sc)
{
	if (!sc)
		return;
	frames_free(sc->own);
	arena_release(&sc->text);
	free_all(sc->name, sc);
}

const char *sums_code_text(struct sums_code *sc, const char *name)
{
	return arena_strdup(&sc->text, name);
}

void sums_code_put(struct sums_code *sc, uint32_t frame, const char *name,
		   uint64_t symoff, const char *file)
{
	*mem_at(sc->name, sc->n, sc->cap, frame) = (struct code_name){
		name, file ? sums_code_text(sc, file) : NULL, symoff
	};
}

const struct frames *store_sums_code(const struct store *db)
{
	return db->sums ? db->sums->fr : NULL;
}

const char *store_sums_name(const struct store *db, uint32_t frame,
			    uint64_t *symoff)
{
	const struct sums_code *sc = db->sums;
	const struct code_name none = { 0 };
	const struct code_name *c = frame < sc->n ? &sc->name[frame] : &none;

	*symoff = c->symoff;
	return c->name;
}

const char *store_sums_file(const struct store *db, uint32_t frame)
{
	const struct sums_code *sc = db->sums;

	return frame < sc->n ? sc->name[frame].file : NULL;
}
