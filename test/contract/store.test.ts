import { describe } from 'vitest';
import { engine, openReferee } from './referee.ts';
import { SERVICE, STORE, storeContract } from './store.ts';

describe(`the store on ${engine}`, () => storeContract(openReferee, { ...STORE, ...SERVICE }));
