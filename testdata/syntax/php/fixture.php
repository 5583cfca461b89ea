<?php
/** Licence text. */

declare(strict_types=1);

namespace App\Bank;

use App\Models\Base;
use App\Models\{Money, Booking as Entry};
use function strlen;
use Carbon\Carbon as Date;

require_once 'ledger.php';

const MAX_ACCOUNTS = 100;
define('LIMIT', 3);

/**
 * Where accounts are kept.
 */
interface Store extends \Countable, Readable
{
    public function find(string $id): ?Account;
}

trait Logs
{
    protected function log(string $text): void { error_log($text); }
}

/**
 * One customer's account.
 */
#[Entity]
final class Account extends Base implements Store, \JsonSerializable
{
    use Logs, Traced;

    public const STATES = ['open', 'closed'];
    private string $owner = '', $alias;
    protected static int $count;

    public function __construct(private Money $balance, string $owner)
    {
        parent::__construct($owner);
        $this->owner = $owner;
    }

    // Adds an amount.
    public static function deposit(Money $amount, Entry ...$more): self
    {
        $entry = new Entry($amount);
        self::check($amount);
        $entry->book()->notify();
        return array_map(fn($x) => strlen($x), $more);
    }
}

enum Direction: string implements Signed
{
    case Debit = 'd';
    case Credit = 'c';

    public function sign(): int { return 1; }
}

function transfer(Account $from, Account $to): void
{
    Account::deposit(new Money(3));
    \App\Util\helper($from);
}

class Point
{
    public function __construct(public readonly int $x = 0, protected ?Money $worth = null, int $unused = 1)
    {
    }
}
