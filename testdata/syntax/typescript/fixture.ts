import type { Money, Amount as Sum } from "./money";
import express = require("express");
import Base, { inject } from "../base";

/** Where accounts are kept. */
export interface Store<T> extends Readable, Iterable<T> {
  /** Looks one up. */
  find(id: string): Promise<T>;
  readonly size: number;
}

export type Id = string | number;

type Options = {
  retry: number;
};

/** Direction of a booking. */
export enum Direction {
  Debit,
  Credit = "credit",
}

export abstract class Repository<T> implements Store<T>, Closer {
  private items: Map<string, T> = new Map();
  abstract open(): void;

  constructor(private readonly options: Options) {}

  // Looks one up.
  @traced()
  async find(id: string): Promise<T> {
    return this.items.get(id) ?? fallback<T>(id);
  }

  get size(): number { return this.items.size; }

  handler = async (e: Event): Promise<void> => { await this.find(e.id); };
}

// One customer's.
@Injectable({ scope: "root" })
export class Account extends Base<Money> {
  static of(owner: string): Account { return new Account(owner); }
}

export namespace Bank {
  export const LIMIT = 10;
  export function open(name: string): Account { return Account.of(name); }
}

declare module "plugin" {
  export function activate(ctx: Context): void;
}

declare const VERSION: string;

export const DEFAULTS: Options = {
  retry: 3,
};

export const transfer = (a: Account, b: Account): Sum => book(a, b);

export function book(from: Account, to: Account): Sum;
export function book(from: any, to: any): Sum {
  const inner: Direction = Direction.Debit;
  return compute(from, to, inner);
}

const Savings = class extends Account {
  constructor(@Inject() private rate: Rate, public name = "savings", plain: string) { super(); }
};
