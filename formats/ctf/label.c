/* label.c - finds the labels that an enumeration has for a number. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/bt.h"

static char *ctf_label_join(bt_field_class_enumeration_mapping_label_array list,
			    uint64_t n)
{
	size_t len = 0;

	for (uint64_t i = 0; i < n; i++)
		len += strlen(list[i]) + 1;
	if (!len)
		return NULL;
	char *text = mem_new(len, 1);
	char *at = text;

	for (uint64_t i = 0; i < n; i++) {
		size_t k = strlen(list[i]);

		if (i)
			*at++ = '|';
		memcpy(at, list[i], k);
		at += k;
	}
	return text;
}

static char *ctf_label_find(const bt_field_class *fc, int64_t value)
{
	bt_field_class_enumeration_mapping_label_array list = NULL;
	uint64_t n = 0;
	int rc;

	if (bt_field_class_type_is(bt_field_class_get_type(fc),
				   BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION))
		rc = bt_field_class_enumeration_unsigned_get_mapping_labels_for_value(
			fc, (uint64_t)value, &list, &n);
	else
		rc = bt_field_class_enumeration_signed_get_mapping_labels_for_value(
			fc, value, &list, &n);
	return rc ? NULL : ctf_label_join(list, n);
}

const char *ctf_label_text(struct ctf_labels *ls, const bt_field_class *fc,
			   int64_t value)
{
	size_t i = hash_u64((uint64_t)value) % CTF_LABELS;

	if (ls->at[i].known && ls->at[i].value == value)
		return ls->at[i].text;
	free(ls->at[i].text);
	ls->at[i].known = true;
	ls->at[i].value = value;
	ls->at[i].text = ctf_label_find(fc, value);
	return ls->at[i].text;
}

void ctf_labels_free(struct ctf_labels *ls)
{
	for (size_t i = 0; ls && i < CTF_LABELS; i++)
		free(ls->at[i].text);
	free(ls);
}
