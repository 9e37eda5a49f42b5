/* pack_proof.c - decides whether a file that a database names may be packed. */
#include "cli/export/pack_proof.h"

#include <stddef.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/path.h"
#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/names/section_hashes.h"

/* Many files have the same .interp or .comment, so those prove nothing. */
#define PROOF_MIN 256

/* Compares the sections that names were read from. The file may be in another
 * folder than then, as with --symfs. */
static bool pack_proof_sections(struct store *db, int64_t id,
				const struct elf_file *ef)
{
	struct value bind = { .kind = VALUE_INT, .num = id };
	struct rows *r =
		rows_open(db, store_sql("bundle_hashes"), &bind, 1, NULL);
	const char *base = path_base(ef->path);
	bool same = true;
	uint64_t largest = 0;

	while (same && rows_step(r)) {
		uint64_t size = 0;

		if (strcmp(path_base(rows_text(r, BUNDLE_HASHES_FILE)), base))
			continue;
		same = section_hashes_same(
			ef, rows_text(r, BUNDLE_HASHES_NAME),
			(uint64_t)rows_int(r, BUNDLE_HASHES_HASH), &size);
		largest = size > largest ? size : largest;
	}
	rows_close(r);
	return same && largest >= PROOF_MIN;
}

bool pack_proof(struct store *db, int64_t id, const struct image *img,
		const struct elf_file *ef)
{
	return elf_same_id(ef->id, ef->id_len, img->id, img->id_len) ||
	       pack_proof_sections(db, id, ef);
}
