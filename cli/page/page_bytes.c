/* page_bytes.c - numbers as bytes in base64, for the scripts of a page. */
#include "cli/page/page_bytes.h"

/* Some editors cannot handle very long lines: 1024 characters of base64. */
#define LINE_BYTES 768

void page_base64(const struct blob *b, FILE *out)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	char line[LINE_BYTES / 3 * 4 + 1];

	for (size_t at = 0; at < b->n; at += LINE_BYTES) {
		const uint8_t *p = b->at + at;
		size_t n = b->n - at < LINE_BYTES ? b->n - at : LINE_BYTES;
		size_t len = 0;

		for (size_t i = 0; i < n; i += 3) {
			uint32_t v = (uint32_t)p[i] << 16;

			v |= i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0;
			v |= i + 2 < n ? p[i + 2] : 0;
			line[len++] = digit[v >> 18];
			line[len++] = digit[v >> 12 & 63];
			line[len++] = i + 1 < n ? digit[v >> 6 & 63] : '=';
			line[len++] = i + 2 < n ? digit[v & 63] : '=';
		}
		line[len++] = '\n';
		fwrite(line, 1, len, out);
	}
}

void page_bytes_write(const struct blob *b, const char *id, FILE *out)
{
	fprintf(out, "<script type=\"application/octet-stream\" id=\"%s\">\n",
		id);
	page_base64(b, out);
	fputs("</script>\n", out);
}
