import { App } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';

/** Loaded before an app: prints what AwsSolutions and the Serverless rules say of it, in place of synthesizing it. */
App.prototype.synth = function check(this: App) {
  const packs = [new AwsSolutionsChecks(this), new ServerlessChecks(this)];
  console.log(JSON.stringify(packs.flatMap((pack) => pack.validateScope(this).violations)));
  process.exit();
};
