package com.example.bank

import scala.collection.mutable
import java.util.{List => JList, UUID}
import com.example.money._

/** Where accounts are kept. */
trait Store[T] extends Readable with Closeable {
  def find(id: String): Option[T]
  val size: Int
  type Key
}

/** One customer's account.
  *
  * Kept in a ledger.
  */
@deprecated("x", "1")
class Account(val owner: String, balance: Money) extends Base(owner) with Ordered[Account] {
  private val id: UUID = UUID.randomUUID()
  var ledger: Ledger = _

  // Adds an amount.
  def deposit(amount: Money)(implicit ctx: Context): Boolean = {
    ledger.bookings.add(new Booking(amount))
    def local(x: Int) = check(x)
    local(3)
  }

  override def compare(that: Account): Int = balance.compare(that.balance)
}

case class Point(x: Int, y: Int)

/** The companion. */
object Account extends Factory[Account] {
  final val MaxAccounts = 100
  type Id = String
  def parse(text: String): Account = new Account(text, Money.Zero)
}

sealed abstract class Event

enum Direction(val sign: Int) {
  case Debit extends Direction(1)
  case Left, Right
}

given ordering: Ordering[Account] = Ordering.by(_.owner)

extension (a: Account)
  def transfer(to: Account): Unit = to.deposit(Money(3))

object Main extends App {
  val account = Account.parse("x")
  account deposit Money(3)
  println(mutable.Map.empty[String, Int])
}
