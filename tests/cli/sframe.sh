#!/bin/sh
# sframe.sh - SFrame sections are shown, judged, and unwound with.
# usage: BACKSTITCH=build/backstitch tests/cli/sframe.sh
#
# tiny-sframe has no libc: SFrame covers all of it. plt-got.so has the entry of
# .plt.got that GNU ld describes wrong.
# Needs: libcapstone
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
symfs=$PWD/tests/captures/symfs
tiny=$symfs/usr/local/cap/bin/tiny-sframe
got=tests/captures/sframe/plt-got.so
data=tests/captures/tiny-sframe.data

# holds NAME CONDITION FILE: of the JSON j
holds() {
	python3 -c 'import json, sys
j = json.load(open(sys.argv[2]))
t = {x["test"]: x for x in j.get("tests", [])}
sys.exit(not eval(sys.argv[1]))' "$2" "$3"
	ok "$1" $?
}

"$B" sframe "$tiny" >"$work/dump" 2>"$work/err"
is a_section_is_shown $? 0
says the_version_is_said "SFrame version 1 for amd64" "$work/dump"
says rows_are_said "c-16" "$work/dump"
"$B" sframe --json "$got" >"$work/dump.json"
holds the_json_has_all_functions \
	'j["section"]["functions"] == len(j["functions"]) == 5' \
	"$work/dump.json"
holds rows_that_repeat_say_so \
	'[f["repeat"] for f in j["functions"]].count(16) == 3' "$work/dump.json"

"$B" sframe --check "$tiny" >"$work/check"
is a_right_section_has_status_0 $? 0
"$B" sframe --check "$got" >"$work/check"
is errors_have_status_4 $? 4
says the_wrong_rule_is_said "CFA sp+16 FP u RA c-8, .eh_frame has CFA sp+8" \
	"$work/check"
"$B" sframe --check --json "$got" >"$work/check.json"
holds the_entry_of_plt_got_is_found \
	't["plt-got"]["found"] == 16 and t["entry"]["found"] == 1' \
	"$work/check.json"
holds nothing_else_is_found 'j["errors"] == 17' "$work/check.json"
holds every_byte_was_compared \
	't["eh-frame"]["looked_at"] == 117 and t["missing"]["found"] == 0' \
	"$work/check.json"

# hurt NAME TEST PLACE BYTE: one byte of the section is another
hurt() {
	python3 - "$tiny" "$work/broken" "$3" "$4" <<'END'
import re
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
start = data.index(b"\xe2\xde\x01")
# where the first row is that has this address and info byte
at = eval(sys.argv[3], {"d": data, "s": start, "struct": struct})
data[at] = int(sys.argv[4], 0)
open(sys.argv[2], "wb").write(data)
END
	"$B" sframe --check --json "$work/broken" >"$work/broken.json" 2>&1
	status=$?
	if [ "$status" = 4 ]
	then
		holds "$1" "t['$2']['found'] > 0" "$work/broken.json"
	else
		cat "$work/broken.json"
		ok "$1" 1
	fi
}

# Offsets are from the end of the header; functions have 17 bytes.
rows="s + 28 + struct.unpack_from('<I', d, s + 24)[0]"
hurt a_wrong_entry_is_found entry "$rows + struct.unpack_from('<I', d, s + 28 + 17 + 8)[0] + 2" 24
hurt a_wrong_rule_is_found eh-frame "$rows + struct.unpack_from('<I', d, s + 28 + 17 + 8)[0] + 2" 24
hurt functions_out_of_order_are_found sorted "s + 28 + 17 + 1" 0
hurt another_number_of_rows_is_found row-count "s + 12" 99
hurt a_function_without_code_is_found in-code "s + 28 + 4 + 2" 1
hurt a_broken_function_is_found readable "s + 28 + 16" 3
holds what_cannot_be_read_has_no_address \
	'{(f["start"], f["end"]) for f in j["findings"] if f["test"] == "readable"} == {("0x0", "0x0")}' \
	"$work/broken.json"
hurt another_return_address_is_found fixed-ra "s + 6" 0xf0

"$B" sframe --unwind --json --symfs "$symfs" "$data" >"$work/unwind.json"
is stack_dumps_are_unwound $? 0
holds sframe_alone_gets_all_frames \
	'j["stacks"] == j["same"] == 15 and j["frames_equal"] == j["frames"]' \
	"$work/unwind.json"
"$B" sframe --unwind --symfs "$symfs" "$data" >"$work/unwind"
says the_text_says_so_too "the same ones by SFrame alone" "$work/unwind"
"$B" sframe --unwind tests/captures/fp-1.data >"$work/out" 2>"$work/err"
is a_capture_without_dumps_is_refused $? 1
says and_says_how_to_take_some "--call-graph dwarf" "$work/err"

"$B" sframe --readiness --json --symfs "$symfs" "$data" >"$work/ready.json"
holds all_samples_are_ready_for_sframe \
	'j["samples"] == j["sframe"] == 15 and j["frame_pointer"] == 0' \
	"$work/ready.json"
"$B" sframe --readiness --json --symfs "$symfs" tests/captures/fp-1.data \
	>"$work/ready.json"
holds programs_with_frame_pointers_are_found \
	'[i["frame_pointer"] == i["samples"] > 0 for i in j["images"] if i["image"].endswith("work-fp")] == [True]' \
	"$work/ready.json"
holds sums_are_those_of_the_images \
	'all(j[k] == sum(i[k] for i in j["images"]) for k in ("samples", "frame_pointer", "sframe", "neither", "eh_frame"))' \
	"$work/ready.json"
"$B" ingest -q -f -o "$work/x.db" --symfs "$symfs" tests/captures/fp-1.data \
	2>/dev/null
"$B" sframe --readiness --json --symfs "$symfs" "$work/x.db" >"$work/db.json"
cmp -s "$work/ready.json" "$work/db.json"
ok a_database_says_the_same_as_its_capture $?

# packages: as dpkg lists them
mkdir -p "$work/root/var/lib/dpkg/info" "$work/root/usr/local/cap/bin"
cp "$symfs"/usr/local/cap/bin/* "$work/root/usr/local/cap/bin"
echo /usr/local/cap/bin/work-fp >"$work/root/var/lib/dpkg/info/working:amd64.list"
echo /local/cap/bin/libleaf-fp.so >"$work/root/var/lib/dpkg/info/leaf.list"
"$B" sframe --readiness --json --symfs "$work/root" "$work/x.db" \
	>"$work/ready.json"
holds packages_are_those_of_dpkg \
	'{i["image"].split("/")[-1]: i["package"] for i in j["images"] if i["package"]} == {"work-fp": "working", "libleaf-fp.so": "leaf"}' \
	"$work/ready.json"

# what is no file is not waited for
rm -r "$work/root/var/lib/dpkg/info/leaf.list"
mkdir -p "$work/root/usr/lib/sysimage/rpm"
mkfifo "$work/root/var/lib/dpkg/info/leaf.list" \
	"$work/root/usr/lib/sysimage/rpm/rpmdb.sqlite"
timeout -k 1 20 "$B" sframe --readiness --json --symfs "$work/root" "$work/x.db" \
	>"$work/ready.json"
holds lists_of_packages_that_are_no_files_are_left_out \
	'{i["image"].split("/")[-1]: i["package"] for i in j["images"] if i["package"]} == {"work-fp": "working"}' \
	"$work/ready.json"

# ... and as rpm's database has them, of which only these tables are asked
rm -r "$work/root/var" "$work/root/usr/lib/sysimage/rpm/rpmdb.sqlite"
python3 - "$work/root/usr/lib/sysimage/rpm/rpmdb.sqlite" <<'EOF'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for table in "Name", "Basenames", "Dirnames":
    db.execute("CREATE TABLE '%s' (key 'TEXT' NOT NULL, hnum INTEGER NOT NULL,"
               " idx INTEGER NOT NULL)" % table)
for hnum, name, folder, file in (
        (1, "working", "/usr/local/cap/bin/", "work-fp"),
        (2, "leaf", "/local/cap/bin/", "libleaf-fp.so"),
        (3, "other", "/usr/share/", "work-fp")):
    db.execute("INSERT INTO Name VALUES (?, ?, 0)", (name, hnum))
    db.execute("INSERT INTO Basenames VALUES (?, ?, 0)", (file, hnum))
    db.execute("INSERT INTO Dirnames VALUES (?, ?, 0)", (folder, hnum))
db.commit()
EOF
"$B" sframe --readiness --json --symfs "$work/root" "$work/x.db" \
	>"$work/ready.json"
holds packages_are_those_of_rpm \
	'{i["image"].split("/")[-1]: i["package"] for i in j["images"] if i["package"]} == {"work-fp": "working", "libleaf-fp.so": "leaf"}' \
	"$work/ready.json"
# a table that never ends
python3 - "$work/root/usr/lib/sysimage/rpm/rpmdb.sqlite" <<'EOF'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DROP TABLE Name")
db.execute("CREATE VIEW Name AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL"
           " SELECT x + 1 FROM c) SELECT 'a' AS key, -x AS hnum FROM c")
db.commit()
EOF
timeout 60 "$B" sframe --readiness --json --symfs "$work/root" "$work/x.db" \
	>"$work/ready.json"
is a_database_that_never_ends_is_left_alone $? 0
holds and_says_nothing 'not any(i["package"] for i in j["images"])' \
	"$work/ready.json"

"$B" sframe >"$work/out" 2>"$work/err"
is a_file_is_needed $? 2
"$B" sframe --check --unwind "$tiny" >"$work/out" 2>"$work/err"
is one_question_at_a_time $? 2
"$B" sframe tests/cli/sframe.sh >"$work/out" 2>"$work/err"
is what_is_no_elf_file_is_refused $? 1
"$B" sframe "$symfs/usr/local/cap/bin/work-fp" >"$work/out" 2>"$work/err"
is a_file_without_section_is_refused $? 1
says and_says_how_to_make_one "--gsframe" "$work/err"
