"""Queries tried out: methods compared, promises verified on small inputs, answers attacked.

Nothing here releases anything, spends anything or touches a ledger.
"""
