/* pack_proof.h - decides whether a file that a database names may be packed.
 *
 * The database may come from anybody, and the archive goes to others. A file is
 * packed only if it is an ELF file and proves to be the recorded one, by its
 * build-id or, without one, by the hashes of its sections that were stored when
 * names were read; a debug file must also be where debug files are. */
#ifndef CLI_EXPORT_PACK_PROOF_H
#define CLI_EXPORT_PACK_PROOF_H
#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct image;
struct store;

/* Returns whether ef is what was recorded as the image with that id. */
bool pack_proof(struct store *db, int64_t id, const struct image *img,
		const struct elf_file *ef);
#endif
