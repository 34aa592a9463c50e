import { App } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';

/** Runs before an app: prints the findings of AwsSolutions and the Serverless rules instead of synthesizing it. */
App.prototype.synth = function check(this: App) {
  const packs = [new AwsSolutionsChecks(this), new ServerlessChecks(this)];
  console.log(JSON.stringify(packs.flatMap((pack) => pack.validateScope(this).violations)));
  process.exit();
};
