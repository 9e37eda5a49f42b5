-- callsite.sql - deletes what is small of the results of an earlier call-site
-- check. The other tables are compared with the new results first.
UPDATE image SET identity = substr(identity, instr(identity, ';') + 2)
WHERE identity GLOB 'doubted: *; *';
DELETE FROM internal_user_trust;
DELETE FROM internal_end;
DELETE FROM internal_frame_share;
