'use strict';

import fs, { readFile as read, writeFile } from 'node:fs';
import * as path from 'path';
import './polyfill.js';
const { join, resolve } = require('path');
const util = require('./util');
export { helper } from './helper.js';
export * from './all.js';

/** The most accounts a ledger holds. */
export const MAX_ACCOUNTS = 100;

let counter = 0;
var legacy;

const options = {
  retry: 3,
  onError: function (err) { report(err); },
  format(value) { return String(value); },
};

/**
 * One customer's account.
 * @param {string} owner
 */
export default class Account extends models.Base {
  #balance = 0;
  static limit = 10;

  constructor(owner) {
    super(owner);
    this.owner = owner;
  }

  // Adds an amount.
  deposit(amount) {
    this.#balance += amount;
    this.#check();
    return util.notify(this.owner).then(log);
  }

  get balance() { return this.#balance; }

  handle = (event) => { this.deposit(event.amount); };
}

class Savings extends mixin(Account) {}

// Sends money.
export async function transfer(source, target) {
  const amount = await read(source);
  const inner = () => writeFile(target, amount);
  return new Booking(inner());
}

export const sum = (a, b) => a + b;

function* ids() { yield counter++; }

Account.prototype.close = function () { ids(); };
exports.open = () => new models.Account();

const lazy = () => import('./lazy.js');

function App() {
  return <Layout title="x"><Button onClick={transfer} /><div /></Layout>;
}

// What a bank keeps.
module.exports = class Ledger extends Base {
  book(entry) { append(entry); }
};
exports.Entry = class { undo() {} };
exports.Void = class extends exports.Entry {};
module.exports = function create() { return new Savings(); };
