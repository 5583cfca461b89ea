package com.example.bank

import java.util.UUID
import kotlin.math.*
import com.example.money.Amount as Sum

/** The most accounts a ledger holds. */
const val MAX_ACCOUNTS = 100
private var counter: Int = 0

typealias Handler = (Account) -> Unit

/** Where accounts are kept. */
interface Store<T> : Readable, Closeable {
    fun find(id: String): T?
    val size: Int
}

/**
 * One customer's account.
 */
@Serializable
data class Account(val owner: String, private var balance: Sum = Sum.ZERO) : Base<Sum>(owner), Comparable<Account> {
    val id: UUID = UUID.randomUUID()
    lateinit var ledger: Ledger

    init {
        register(this)
    }

    // Adds an amount.
    @Throws(BankException::class)
    suspend fun deposit(amount: Sum): Boolean {
        balance += amount
        ledger.bookings.add(Booking(amount))
        fun local() = check(amount)
        return local()
    }

    override fun compareTo(other: Account): Int = balance.compareTo(other.balance)

    companion object {
        const val LIMIT = 3
        fun parse(text: String): Account = Account(text)
    }

    inner class Node
}

enum class Direction(val sign: Int) : Signed {
    DEBIT(1),
    CREDIT(-1);

    fun flip() = values().first()
}

object Registry : Store<Account> {
    override fun find(id: String): Account? = null
}

sealed interface Event

fun Account.transfer(to: Account) = to.deposit(Sum(3))

fun <T> main(args: Array<String>) {
    val store = Registry
    store.find("x")?.transfer(Account("y"))
    println(max(1, 2))
}

/** Hears of changes. */
fun interface Listener : Closeable {
    fun changed(account: Account)
}
