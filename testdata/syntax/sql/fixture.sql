-- Accounts and their ledger.
CREATE SCHEMA bank;

-- One customer's account.
CREATE TABLE bank.accounts (
    id INTEGER PRIMARY KEY,
    owner VARCHAR(40) NOT NULL,
    parent_id INTEGER REFERENCES accounts(id)
);

CREATE TYPE direction AS ENUM ('debit', 'credit');

CREATE UNIQUE INDEX accounts_owner ON bank.accounts (owner);

/* All that is open. */
CREATE VIEW open_accounts AS
SELECT a.id, count(b.id) AS n
FROM bank.accounts a
JOIN bookings b ON b.account_id = a.id
WHERE lower(a.owner) <> ''
GROUP BY a.id;

CREATE FUNCTION deposit(account INTEGER, amount INTEGER) RETURNS INTEGER AS $$
  SELECT amount + 1;
$$ LANGUAGE sql;

ALTER TABLE bank.accounts ADD COLUMN state TEXT;

INSERT INTO bookings (id, amount) VALUES (1, 3);

-- Closes an account.
CREATE PROCEDURE close_account(account INTEGER)
LANGUAGE SQL
AS $$
  UPDATE bank.accounts SET state = 'closed' WHERE id = account;
$$;

CREATE FUNCTION log_change() RETURNS trigger AS $$
BEGIN
  INSERT INTO changes VALUES (1);
  RETURN NEW;
END;
$$ LANGUAGE plpgsql;

-- Keeps what was changed.
CREATE TRIGGER accounts_changed AFTER UPDATE ON bank.accounts
FOR EACH ROW EXECUTE FUNCTION log_change();
