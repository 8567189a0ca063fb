-- A token had one scope of a ladder; it has a set of permissions, each by its name. Any other word in
-- there gives no permission, as before.
alter table token rename column scope to permissions;
update token set permissions = case permissions
    when 'admin' then 'read,write,admin'
    when 'write' then 'read,write'
    else permissions
end;
